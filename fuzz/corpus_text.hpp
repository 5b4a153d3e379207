#pragma once

// What the fuzzers of the text formats begin from: small files of every kind, right ones and ones
// that are wrong in one place, so that the seeds alone reach most lines of the readers.

#include <map>
#include <string>

inline std::map<std::string, std::string> edge_list_seeds() {
  return {
      {"plain", "0 1\n1 2\n2 0\n"},
      {"one_based", "1\t2\n2\t3\n"},
      {"commas", "source,target,weight\n0,1,0.5\n1, 2 ,2\r\n"},
      {"comments", "# a\n% b\n\n0 1 # c\n1 2\n"},
      {"mark",
       "\xEF\xBB\xBF"
       "0 1\n"},
      {"sparse_ids", "5 4294967294\n77 123456\n5 77\n"},
      {"far_apart", "0 1\n0 999\n"},
      {"ours", "# ngf edge list: nodes=6 base=1 directed=yes\n1 2 0.5\n3 4 -1e3\n"},
      {"ours_counted", "# ngf edge list: edges=2 nodes=3 base=0 directed=no\n0 1\n1 2\n"},
      {"ours_cut", "# ngf edge list: edges=2 nodes=13 base=0 directed=no\n0 1\n"},
      {"ours_no_newline", "# ngf edge list: edges=2 nodes=13 base=0 directed=no\n0 1\n1 1"},
      {"ours_endless", "# ngf edge list: edges=99999999999999999999 nodes=3\n0 1\n"},
      {"ours_empty", "# ngf edge list: nodes=3 base=0 directed=no\n"},
      {"ours_no_nodes", "# ngf edge list: nodes=0\n0 1\n"},
      {"ours_too_many", "# ngf edge list: nodes=1000000000000000000\n0 1\n"},
      {"ours_not_credible", "# ngf edge list: nodes=99999999\n0 1\n"},
      {"ours_past_the_end", "# ngf edge list: nodes=2\n0 1\n1 2\n"},
      {"ours_unknown", "# ngf edge list: colour=red\n0 1\n"},
      {"ours_no_value", "# ngf edge list: nodes7\n0 1\n"},
      {"networkx", "0 1 {}\n1 2 {}\n"},
      {"networkx_weight", "0 1 {'weight': 3.0}\n1 2 {\"weight\": 2, 'c': 1}\n"},
      {"networkx_nan", "0 1 {'weight': nan}\n"},
      {"networkx_other", "0 1 {'c': 1}\n"},
      {"konect", "% asym\n1 2 1 1167609600\n1 3 2 1167609601\n"},
      {"twice", "0 1 1\n1 0 2\n0 0 3\n"},
      {"twice_named", "50 1000 1\n1000 50 2\n50 7 1\n50 7 3\n"},
      {"ones", "0 1 1\n1 2 1\n"},
      {"no_weight", "0 1 1\n1 2\n"},
      {"weight", "0 1\n1 2 1\n"},
      {"weight_nan", "0 1 nan\n"},
      {"weight_word", "0 1 +heavy\n"},
      {"names", "alice bob\nbob carol\n\n# c\nalice dave\n"},
      {"names_weighted", "source,target,weight\nP-1,P-2,0.5\nP-2, P-3 ,2\r\n"},
      {"names_quoted", "\"New York, NY\",\"a \"\"b\"\"\",3.5\nBoston,\"New York, NY\",1\n"},
      {"names_tabs", "New York\tBoston\t1\nBoston\tLos Angeles\t2\tx\n"},
      {"names_networkx", "a b {'weight': 3.0}\nb c {'weight': 2, 'c': 1}\n"},
      {"names_and_numbers", "a b\n1 2\nb 7\n"},
      {"names_header", "Station A,Station B\nx,y\ny,z\n"},
      {"names_open_quote", "a,\"b\nc,d\n"},
      {"names_behind_quote", "\"a\"b c\nd e\n"},
      {"names_empty", "a,b\n,c\n"},
      {"names_control", "a b\nb \x01\n"},
      {"ours_names",
       "# ngf edge list: edges=1 nodes=3 names=yes directed=no\n"
       "# node a\n# node \"b c\"\n# node 7\na 7\n"},
      {"ours_names_cut",
       "# ngf edge list: edges=1 nodes=3 names=yes directed=no\n# node a\n# node b\na b\n"},
      {"ours_names_twice",
       "# ngf edge list: edges=1 nodes=2 names=yes directed=no\n# node a\n# node a\na a\n"},
      {"ours_names_unknown",
       "# ngf edge list: edges=1 nodes=1 names=yes directed=no\n# node a\na b\n"},
      {"ours_names_alone", "# ngf edge list: names=yes\n# node a\n"},
      {"negative", "0 1\n-1 2\n"},
      {"fraction", "0 1\n1.5 2\n"},
      {"too_large", "0 1\n1 99999999999999999999999\n"},
      {"long_ids", "000000000001 123456789\n"},
      {"one_column", "0\n1\n"},
      {"nothing", ""},
      {"only_comments", "# a\n"},
      {"table", "0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n"},
      {"no_table", "0,1,0,0\n1,0,1,0\n"},
      {"metis", "3 2\n2\n1 3\n2\n"},
      {"banner", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"},
      {"small_table", "# ngf adjacency table: nodes=2\n0,1\n1,0\n"},
      {"gml", "graph [\n]\n"},
      {"binary", std::string("0 1\n\0\n", 6)},
      {"zip", "PK\x03\x04"},
      {"npy", "\x93NUMPY"},
  };
}

inline std::map<std::string, std::string> matrix_market_seeds() {
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n";
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  return {
      {"pattern", pattern + "% c\n\n3 3 2\n2 1\n% d\n3 2\n"},
      {"real", real + "3 3 2\n1 2 -.5\n3 1 1e3\n"},
      {"integer", "%%matrixmarket MATRIX coordinate integer general\r\n2 2 1\r\n2 1 7\r\n"},
      {"no_banner", "3 3 2\n2 1\n3 2\n"},
      {"no_banner_weights", "% c\n3 3 2\n% d\n2 1 5\n3 2 6\n"},
      {"ours",
       "%%MatrixMarket matrix coordinate real symmetric\n"
       "% written by ngf: the last line ends in a newline\n3 3 2\n2 1 5\n3 2 12\n"},
      {"ours_no_newline",
       "%%MatrixMarket matrix coordinate pattern symmetric\n"
       "% written by ngf: the last line ends in a newline\n13 13 1\n12 1"},
      {"both_triangles", pattern + "3 3 3\n2 1\n1 2\n3 2\n"},
      {"both_triangles_once", pattern + "3 3 2\n2 1\n2 3\n"},
      {"empty", pattern + "0 0 0\n"},
      {"array", "%%MatrixMarket matrix array real general\n1 1\n5\n"},
      {"complex", "%%MatrixMarket matrix coordinate complex general\n1 1 0\n"},
      {"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n"},
      {"not_square", pattern + "2 3 1\n2 1\n"},
      {"no_sizes", pattern + "2 3\n2 1\n"},
      {"only_banner", pattern},
      {"too_few", pattern + "3 3 2\n2 1    \n"},
      {"too_many", pattern + "3 3 1\n2 1\n3 1\n"},
      {"promise", pattern + "3 3 1000000000000000000\n2 1\n"},
      {"promise_rows", pattern + "1000000000000000000 1000000000000000000 1\n2 1\n"},
      {"no_rows", pattern + "0 0 1\n1 1\n"},
      {"zero_id", pattern + "3 3 1\n0 1\n"},
      {"large_id", pattern + "3 3 1\n4 1\n"},
      {"third_column", pattern + "3 3 1\n2 1 5\n"},
      {"fourth_column", real + "3 3 1\n2 1 5 6\n"},
      {"no_value", real + "3 3 1\n2 1      \n"},
      {"bad_value", real + "3 3 1\n2 1 x\n"},
      {"nan", real + "3 3 1\n2 1 nan\n"},
      {"half_an_entry", real + "3 3 1\n2       \n"},
      {"loops", real + "2 2 3\n1 1 5\n1 2 1\n2 1 1\n"},
      {"asymmetric", real + "2 2 2\n1 2 1\n2 1 3\n"},
      {"nothing", ""},
  };
}

inline std::map<std::string, std::string> metis_seeds() {
  return {
      {"plain", "4 2\n2\n1 3\n2\n\n"},
      {"comments", "% c\n\n4 2 0\n% d\n2\n1 3\n2\n\n\n"},
      {"weights", "3 2 1\n2 5\n1 5 3 7\n2 7\n"},
      {"node_weights", "3 2 10 2\n9 8 2\n9 8 1 3\n9 8 2\n"},
      {"everything", "3 2 111\n6 9 2 5\n6 9 1 5 3 7\n6 9 2 7\n"},
      {"dos", "2 1\r\n2\r\n1\r\n"},
      {"empty", "0 0\n"},
      {"short", "4 2\n2\n1 3\n2\n"},
      {"one_end", "4 2\n2\n3\n\n\n"},
      {"cut", "4 2\n2\n1"},
      {"one_way", "4 2\n2 3\n1\n2\n\n"},
      {"two_weights", "3 2 1\n2 5\n1 5 3 7\n2 6\n"},
      {"loop_once", "2 2\n1 2\n1\n"},
      {"more_lines", "2 1\n2\n1\n\n3\n"},
      {"too_long", "2 1\n2\n1\n1\n"},
      {"too_long_later", "2 1\n% c\n2\n1\n% d\n\n1\n"},
      {"nothing", ""},
      {"one_number", "4\n"},
      {"five_numbers", "4 2 0 1 1\n"},
      {"word", "four 2\n"},
      {"format", "4 2 222\n"},
      {"promise_nodes", "1000000000000000000 2\n2\n"},
      {"promise_edges", "4 1000000000000000000\n2\n"},
      {"promise_weights", "2 1 10 99999999999999999999\n1 2\n1 1\n"},
      {"zero", "2 1\n0\n1\n"},
      {"past_the_end", "2 1\n3\n1\n"},
      {"fraction", "2 1\n2.5\n1\n"},
      {"no_weight", "2 1 1\n2\n1 1\n"},
      {"nan", "2 1 1\n2 nan\n1 1\n"},
      {"bad_weight", "2 1 1\n2 x\n1 1\n"},
      {"loop", "2 1\n1 2\n1\n"},
  };
}

inline std::map<std::string, std::string> csv_seeds() {
  return {
      {"table", "0,0.5,0\n0.5,0,2\n0,2,0\n"},
      {"blanks", "0 1\t0\n1 0 1\n0 1 0\n"},
      {"names", "a,b\n# c\n0, 1\r\n\n1 ,0"},
      {"ours", "# ngf adjacency table: nodes=0\n"},
      {"ours_cut", "# ngf adjacency table: nodes=2\n0,1\n"},
      {"ours_no_newline", "# ngf adjacency table: nodes=2\n0,1\n1,1"},
      {"ours_no_number", "# ngf adjacency table: nodes\n0\n"},
      {"two_weights", "0,1\n2,0\n"},
      {"loops", "1,2\n2,1\n"},
      {"not_square", "0,1\n1,0\n0,0\n"},
      {"short_row", "0,1\n1\n"},
      {"gap", "1,,nan\n,2,inf\n,,\n"},
      {"word", "0,1\n1,x\n"},
      {"nan", "0,nan\n1,0\n"},
      {"only_names", "a,b\n"},
      {"nothing", ""},
      {"one", "7"},
      {"wide", std::string(50, ',') + std::string(50, '\n')},
  };
}

/// The name of each fuzzer, and its seeds by name.
inline std::map<std::string, std::map<std::string, std::string>> text_seeds() {
  return {{"edge_list_fuzz", edge_list_seeds()},
          {"matrix_market_fuzz", matrix_market_seeds()},
          {"metis_fuzz", metis_seeds()},
          {"csv_fuzz", csv_seeds()}};
}
