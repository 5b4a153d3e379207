#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "tests/support.hpp"

namespace ngf::io {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

Graph read(std::string_view text, const ReadOptions& options = {},
           std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return read_adjacency_csv(Input("a.csv", text), options, piece_bytes).dataset.graph;
}

Matrix read_numbers(std::string_view text,
                    std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return read_csv_matrix(Input("x.csv", text), {.threads = 2}, piece_bytes);
}

Table read_table_of(std::string_view text, std::size_t piece_bytes = 6) {
  return read_csv_table(Input("x.csv", text), {.threads = 2}, true, piece_bytes);
}

std::vector<std::string> list(const NodeNames& names) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) result.emplace_back(names[i]);
  return result;
}

TEST(CsvTable, FirstColumnsOfIds) {
  const Matrix expected{{1.5, 2}, {3, -4}};
  struct Case {
    std::string_view text;
    std::string corner;
    std::vector<std::string> rows;
    std::vector<std::string> columns;
  };
  for (const auto& [text, corner, rows, columns] : std::vector<Case>{
           {"1.5,2\n3,-4\n", "", {}, {}},
           {"x,y\n1.5,2\n3,-4\n", "", {}, {"x", "y"}},
           {"id,x,y\n7,1.5,2\n3,3,-4\n", "id", {"7", "3"}, {"x", "y"}},
           {"\"ID\",\"x\",\"y\"\n7,1.5,2\n3,3,-4\n", "ID", {"7", "3"}, {"x", "y"}},
           {",x,y\n0,1.5,2\n1,3,-4\n", "", {"0", "1"}, {"x", "y"}},
           {"Sensor,2020,2021\n1,1.5,2\n2,3,-4\n", "Sensor", {"1", "2"}, {"2020", "2021"}},
           {"a,1.5,2\nb,3,-4\n", "", {"a", "b"}, {}},
           {"town,x,y\n\"a, b\",1.5,2\n\"c \"\"d\"\"\",3,-4\n",
            "town",
            {"a, b", "c \"d\""},
            {"x", "y"}},
           {"town,\"x, in m\",y\na,1.5,2\nb,3,-4\n", "town", {"a", "b"}, {"x, in m", "y"}},
           {"node x y\na 1.5 2\nb 3 -4\n", "node", {"a", "b"}, {"x", "y"}},
           {"x,y\na,1.5,2\nb,3,-4\n", "", {"a", "b"}, {"x", "y"}},   // R: no name of the ids
           {",0,1\n0,1.5,2\n1,3,-4\n", "", {"0", "1"}, {"0", "1"}},  // Pandas: of an array
       }) {
    for (const std::size_t piece_bytes : {1U, 6U, 1U << 20}) {
      const Table table = read_table_of(text, piece_bytes);
      EXPECT_EQ(table.numbers, expected) << text;
      EXPECT_EQ(list(table.text.rows), rows) << text;
      EXPECT_EQ(list(table.text.columns), columns) << text;
      EXPECT_EQ(table.text.corner, corner) << text;
      EXPECT_FALSE(table.text.times) << text;
    }
  }
  EXPECT_EQ(read_table_of("x\n1\n2\n").numbers, (Matrix{{1}, {2}}));
  EXPECT_EQ(read_table_of("id\n1\n2\n").numbers, (Matrix{{1}, {2}}));
  EXPECT_TRUE(std::isnan(read_table_of(",1\n2,3\n").numbers(0, 0)));
  const auto error = [](std::string_view text) {
    return error_of<Error>([&] { read_table_of(text); });
  };
  EXPECT_THAT(error("a,b\n"), HasSubstr("holds no numbers"));
  EXPECT_THAT(error("id,x,y\n1,2,3\n4,5\n"), HasSubstr("line 3: has 1 columns"));
  EXPECT_THAT(error("a,1\nb,c\n"), HasSubstr("line 2: 'c' is not a number"));
  EXPECT_THAT(error("a,1\n\"b,2\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("\"a,1\n\"b,2\n"), HasSubstr("line 1: has a quote without its end"));
}

TEST(CsvTable, RowsThatAreTimes) {
  const Matrix expected{{1.5, 2}, {3, -4}};
  for (const std::string_view text : {
           "timestamp,a,b\n1330560000,1.5,2\n1330560300,3,-4\n",
           "Time,773869,767541\n0,1.5,2\n5,3,-4\n",
           "datetime,773869,767541\n2012-03-01 00:00:00,1.5,2\n2012-03-01 00:05:00,3,-4\n",
           ",773869,767541\n2012-03-01 00:00:00,1.5,2\n2012-03-01 00:05:00,3,-4\n",
           "measured at,773869,767541\n2012-03-01T00:00Z,1.5,2\n2012-03-01T00:05Z,3,-4\n",
           "\"when\",\"a\",\"b\"\n\"3/1/2012 0:00\",1.5,2\n\"3/1/2012 0:05\",3,-4\n",
           "2012/03/01,1.5,2\n2012/03/02,3,-4\n",
           "index,a,b\n01.03.2012,1.5,2\n02.03.2012,3,-4\n",
       }) {
    const Table table = read_table_of(text);
    EXPECT_EQ(table.numbers, expected) << text;
    EXPECT_TRUE(table.text.times) << text;
    EXPECT_EQ(table.text.rows.size(), 2U) << text;
    EXPECT_EQ(table.text.columns.size(), text.starts_with('2') ? 0U : 2U) << text;
  }
  // Neither ids such as addresses, nor headers of times make rows times.
  EXPECT_FALSE(read_table_of("10.0.0.1,1\n10.0.0.2,2\n").text.times);
  EXPECT_FALSE(read_table_of("1-2,1\n1-3,2\n").text.times);
  EXPECT_FALSE(read_table_of("sensor,2012-03-01,2012-03-02\na,1,2\n").text.times);
}

TEST(CsvTable, IsWrittenAsItWasRead) {
  for (const std::string_view text : {
           "x,y\n1.5,2\n3,-4\n",
           "station,x,\"y, in m\"\n\"New York, NY\",1.5,2\nb,3,-4\n",
           ",a,b\n2012-03-01 00:00:00,1.5,2\n2012-03-01 00:05:00,3,-4\n",
           "a,1.5,2\nb,3,-4\n",
       }) {
    const Table table = read_table_of(text);
    const auto path = test::temp_file("text.csv");
    write_matrix(path, table.numbers, table.text);
    EXPECT_EQ(Input(path).read_all(), text);
  }
}

TEST(AdjacencyCsv, DialectsOfOneGraph) {
  std::vector<EdgeBlock> blocks{{{{0, 1}, {1, 2}}, {0.5, 2}}};
  const Graph expected = build_graph(3, std::move(blocks));
  for (const std::string_view text : {
           "0,0.5,0\n0.5,0,2\n0,2,0\n", "0, .5, 0\r\n5e-1 ,0, 2\r\n0,2,0",
           "0 0.5 0\n0.5\t0 2\n 0 2 0 \n", "a,b,c\n0,0.5,0\n0.5,0,2\n0,2,0\n",
           "# weights\n\n0,0.5,0\n\n0.5,0,2\n% c\n0,2,0\n\n",
           "\357\273\2770,0.5,0\n0.5,0,2\n0,2,0\n",
           "0,0.5,-0\n0.5,0.0,2\n0,2,1\n",  // a self-loop
       }) {
    for (const std::size_t piece_bytes : {1U, 6U, 1U << 20}) {
      for (const int threads : {1, 2}) {
        EXPECT_EQ(read(text, {.threads = threads}, piece_bytes), expected) << text;
      }
    }
  }
}

TEST(AdjacencyCsv, EntriesAreCounted) {
  const ReadResult result =
      read_adjacency_csv(Input("a.csv", std::string_view("1,2,0\n2,1,0\n0,0,1\n")), {});
  EXPECT_EQ(result.counts.self_loops, 3U);
  EXPECT_EQ(result.counts.duplicates, 0U);
  EXPECT_EQ(read("0,1\n0,0\n", {.directed = true}),
            build_graph(2, std::vector<Edge>{{0, 1}}, {.directed = true}));
  EXPECT_EQ(read("0,1\n0,0\n"), build_graph(2, std::vector<Edge>{{0, 1}}));
  EXPECT_EQ(read("0\n").nodes(), 1U);
}

TEST(AdjacencyCsv, BadTablesAreRefused) {
  const auto expect = [](std::string_view text, std::string_view what) {
    EXPECT_THAT(error_of<Error>([&] { read(text, {}, 4); }),
                AllOf(HasSubstr("a.csv: "), HasSubstr(std::string(what))))
        << text;
  };
  expect("", "holds no numbers");
  expect("# nothing\n", "holds no numbers");
  expect("0,1\n", "1 rows and 2 columns");
  expect("0,1\n1,0\n0,0\n", "3 rows and 2 columns");
  expect("0,1\n1\n", "line 2: has 1 columns, but line 1 has 2");
  expect("0,1\n1,0,0\n", "line 2: has 3 columns");
  expect("0,1\n1,\n", "line 2: column 2 holds ''");
  expect("0,1\nnan,0\n", "line 2: column 1 holds 'nan'; expected a finite number");
  expect("0,1\n-inf,0\n", "'-inf'");
  expect("0,1\n1,x\n", "'x'");
  expect("0 1\n1,0\n", "line 2: column 1 holds '1,0'");
}

TEST(AdjacencyCsv, EveryTruncationIsAnErrorOrSmaller) {
  const std::string text = "0,0.5,0\n0.5,0,21\n0,21,0\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      EXPECT_LE(read(text.substr(0, length), {}, 5).edges(), 2U);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.csv"));
    }
  }
}

TEST(CsvMatrix, DialectsOfOneMatrix) {
  Matrix expected(2, 3);
  expected << 1, -2.5, 3e10, 4, 5, 6;
  for (const std::string_view text : {
           "1,-2.5,3e10\n4,5,6\n",
           "x,y,z\n1, -2.5 ,3e10\r\n4,5,+6\r\n",
           "# names\n1 -2.5 3e10\n\n4\t5 6",
           "\"x\",1,2\n1,-2.5,3e10\n4,5,6\n",
       }) {
    for (const std::size_t piece_bytes : {1U, 7U, 1U << 20}) {
      EXPECT_EQ(read_numbers(text, piece_bytes), expected) << text;
    }
  }
  EXPECT_EQ(read_numbers("7").rows(), 1);
  // Names that are numbers cannot be told from data.
  EXPECT_EQ(read_numbers("773869,767541\n64.4,67.6\n").rows(), 2);
}

TEST(CsvMatrix, GapsAreNan) {
  const Matrix matrix = read_numbers("1,,nan\n,NaN,-inf\n", 3);
  ASSERT_EQ(matrix.rows(), 2);
  ASSERT_EQ(matrix.cols(), 3);
  EXPECT_EQ(matrix(0, 0), 1);
  for (const double gap : {matrix(0, 1), matrix(0, 2), matrix(1, 0), matrix(1, 1)}) {
    EXPECT_TRUE(std::isnan(gap));
  }
  EXPECT_EQ(matrix(1, 2), -std::numeric_limits<double>::infinity());
}

TEST(CsvMatrix, WordsForGapsAreNan) {
  const Matrix matrix = read_numbers("NA,1,N/A\nnull,None,NULL\n", 3);
  ASSERT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix(0, 1), 1);
  EXPECT_EQ(matrix.array().isNaN().count(), 5);
}

TEST(CsvMatrix, BadTablesAreRefused) {
  const auto expect = [](std::string_view text, std::string_view what) {
    EXPECT_THAT(error_of<Error>([&] { read_numbers(text, 4); }),
                AllOf(HasSubstr("x.csv: "), HasSubstr(std::string(what))))
        << text;
  };
  expect("", "holds no numbers");
  expect("a,b,c\n", "holds no numbers");
  expect("1,2\n3\n", "line 2: has 1 columns, but line 1 has 2");
  expect("1,2\n\n3,4,5\n", "line 3: has 3 columns");
  expect("1,2\n3,four\n", "line 2: 'four' is not a number");
  expect("1,2\n\"3\",4\n", "is not a number");
  expect("a,b\nc,d\n", "line 2: 'c' is not a number");
  expect("a;b\n1,5;2\n", "line 2: has semicolons; separate the columns by commas");
  // A long first row and many short ones: the product of the two is not what the file holds.
  expect(std::string(100000, ',') + std::string(100000, '\n') + "1\n", "line 100001");
}

TEST(CsvMatrix, IsWrittenToTheLastDigit) {
  Matrix matrix(3, 2);
  matrix << 0.1, 1.0 / 3, 1e-300, -1e300, std::numeric_limits<double>::denorm_min(), 12345678901;
  const auto path = test::temp_file("x.csv");
  write_matrix(path, matrix);
  EXPECT_EQ(read_matrix(path), matrix);
  const auto binary = test::temp_file("x.npy");
  write_matrix(binary, matrix);
  EXPECT_EQ(read_matrix(binary), matrix);

  matrix(0, 0) = std::nan("");
  write_matrix(path, matrix);
  EXPECT_TRUE(std::isnan(read_matrix(path)(0, 0)));
  EXPECT_THAT(error_of<Error>([&] { write_matrix(path, Matrix(0, 3)); }), HasSubstr("npy"));
  EXPECT_THAT(error_of<Error>([&] { write_matrix(test::temp_file("x.txt"), matrix); }),
              HasSubstr(".npy or .csv"));
}

TEST(AdjacencyCsv, OurCommentCountsTheRows) {
  const auto error = [](std::string_view text) {
    return error_of<Error>([&] { read("# ngf adjacency table:" + std::string(text)); });
  };
  EXPECT_EQ(read("# ngf adjacency table: nodes=2\n0,1\n1,0\n").edges(), 1U);
  EXPECT_EQ(read("# ngf adjacency table: nodes=0\n").nodes(), 0U);
  EXPECT_THAT(error(" nodes=2\n"), HasSubstr("line 1: promises 2 rows, but 0 follow"));
  EXPECT_THAT(error(" nodes=1\n0,1\n1,0\n"), HasSubstr("promises 1 rows, but 2 follow"));
  EXPECT_THAT(error(" nodes=2\n0,1\n1,0"), HasSubstr("newline (is it cut off?)"));
  for (const std::string_view bad : {"", "\n", " nodes", " nodes=", " nodes=x", " rows=2"}) {
    EXPECT_THAT(error(bad), HasSubstr("expected nodes=N")) << bad;
  }
  EXPECT_EQ(read("# ngf adjacency table: nodes=3\n0,1\n1,0\n", {.lenient = true}).nodes(), 2U);
}

}  // namespace
}  // namespace ngf::io
