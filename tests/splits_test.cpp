#include "ngf/tasks/splits.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Dataset;
using ngf::Error;
using ngf::NodeId;
using ngf::Split;
using ngf::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Nodes without edges, node u of class u % classes, every seventh of no known class.
Dataset labelled(NodeId nodes, std::int32_t classes) {
  Dataset dataset;
  dataset.graph = ngf::build_graph(nodes, std::vector<ngf::EdgeBlock>{});
  for (NodeId u = 0; u < nodes; ++u) {
    dataset.labels.push_back(u % 7 == 6 ? -1 : static_cast<std::int32_t>(u) % classes);
  }
  return dataset;
}

std::string refusal(const Dataset& dataset, std::string_view text) {
  return error_of<Error>([&] { choose_split(dataset, text); });
}

/// How many nodes of each class are in a part, which is sorted and has labels.
std::vector<int> sizes(const std::vector<NodeId>& part, const Dataset& dataset) {
  std::vector<int> counts(static_cast<std::size_t>(dataset.class_count()));
  EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
  for (const NodeId u : part) ++counts.at(static_cast<std::size_t>(dataset.labels.at(u)));
  return counts;
}

void expect_disjoint(const Split& split) {
  std::set<NodeId> all;
  for (const auto* part : {&split.train, &split.validation, &split.test}) {
    all.insert(part->begin(), part->end());
  }
  EXPECT_EQ(all.size(), split.train.size() + split.validation.size() + split.test.size());
}

TEST(Splits, ThoseOfTheDataSet) {
  Dataset dataset = labelled(10, 2);
  dataset.splits = {{{0, 6}, {1}, {2, 3}}, {{4}, {5, 6}, {7}}};
  const Split first{{0}, {1}, {2, 3}};  // the label of node 6 is not known
  EXPECT_EQ(choose_split(dataset, "public"), first);
  EXPECT_EQ(choose_split(dataset, "0"), first);
  EXPECT_EQ(choose_split(dataset, "1"), (Split{{4}, {5}, {7}}));
}

TEST(Splits, RandomOfALargeSetAsPlanetoid) {
  const Dataset dataset = labelled(2000, 3);
  const Split split = choose_split(dataset, "random:5");
  EXPECT_THAT(sizes(split.train, dataset), ElementsAre(20, 20, 20));
  EXPECT_EQ(split.validation.size(), 500U);
  EXPECT_EQ(split.test.size(), 1000U);
  sizes(split.validation, dataset);
  sizes(split.test, dataset);
  expect_disjoint(split);
}

TEST(Splits, RandomOfASmallSetByClass) {
  const Dataset dataset = labelled(70, 3);  // 20 labelled nodes of each class
  const Split split = choose_split(dataset, "random:5");
  EXPECT_THAT(sizes(split.train, dataset), ElementsAre(12, 12, 12));
  EXPECT_THAT(sizes(split.validation, dataset), ElementsAre(4, 4, 4));
  EXPECT_THAT(sizes(split.test, dataset), ElementsAre(4, 4, 4));
  expect_disjoint(split);
}

TEST(Splits, AClassTooSmallForPlanetoidsSizes) {
  Dataset dataset = labelled(3000, 2);
  for (const NodeId u : {0U, 1U, 2U, 3U, 4U}) dataset.labels[u] = 2;
  const Split split = choose_split(dataset, "random:1");
  EXPECT_EQ(sizes(split.train, dataset)[2], 3);
  EXPECT_EQ(sizes(split.test, dataset)[2], 1);
  EXPECT_GT(split.train.size(), 1000U);
}

TEST(Splits, TheEdgeOfPlanetoidsSizes) {
  Dataset dataset = labelled(1820, 3);  // 1560 labelled nodes: 3 x 20 + 1500
  EXPECT_EQ(random_split(dataset, 1).train.size(), 60U);
  dataset.labels[0] = -1;
  EXPECT_GT(random_split(dataset, 1).train.size(), 900U);
}

TEST(Splits, SeedsDecide) {
  const Dataset dataset = labelled(2000, 3);
  EXPECT_EQ(choose_split(dataset, "random:1"), random_split(dataset, 1));
  EXPECT_NE(random_split(dataset, 1), random_split(dataset, 2));
  EXPECT_NE(random_split(labelled(70, 3), 1), random_split(labelled(70, 3), 2));
}

TEST(Splits, EachNodeIsDrawnEquallyOften) {
  const Dataset dataset = labelled(70, 1);
  std::vector<int> drawn(70);
  constexpr int draws = 2000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    for (const NodeId u : random_split(dataset, seed).test) ++drawn[u];
  }
  // 12 of 60 nodes each time: 400 draws a node, with a standard deviation of 18.
  for (NodeId u = 0; u < 70; ++u) {
    EXPECT_NEAR(drawn[u], dataset.labels[u] < 0 ? 0 : draws / 5, 90) << u;
  }
}

TEST(Splits, ExplainThemselves) {
  Dataset dataset = labelled(20, 2);
  EXPECT_THAT(refusal(dataset, "public"), HasSubstr("no split of its own"));
  dataset.splits = {{{0}, {1}, {2}}, {{6}, {1}, {2}}, {{0}, {}, {2}}, {{0}, {1}, {13}}};
  EXPECT_THAT(refusal(dataset, "4"), HasSubstr("0 to 3"));
  EXPECT_THAT(refusal(dataset, "1"), HasSubstr("training"));
  EXPECT_THAT(refusal(dataset, "2"), HasSubstr("validation"));
  EXPECT_THAT(refusal(dataset, "3"), HasSubstr("testing"));
  for (const char* const text : {"", "private", "-1", "1.5", "1 ", "99999999999999999999"}) {
    EXPECT_THAT(refusal(dataset, text), HasSubstr("expected public")) << text;
  }
  for (const char* const text : {"random:", "random:x", "random:-1", "random:1,2"}) {
    EXPECT_THAT(refusal(dataset, text), HasSubstr("expected random:SEED")) << text;
  }
  EXPECT_THAT(refusal(labelled(6, 2), "random:1"), HasSubstr("5 labelled nodes"));
  dataset.labels.clear();
  EXPECT_THAT(refusal(dataset, "public"), HasSubstr("no labels"));
  EXPECT_THAT(refusal(dataset, "random:1"), HasSubstr("no labels"));
}

}  // namespace
