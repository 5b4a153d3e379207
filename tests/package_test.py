"""The installed CMake package: examples of the documentation compile and run, and each library links only its own."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["NGF_PROGRAM"]).parent

# The karate club of W. Zachary has 34 nodes; a ring needs no file.
RING = "".join(f"{u} {(u + 1) % 12}\n" for u in range(12))

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(package LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(ngf REQUIRED COMPONENTS core io nn)
add_executable(flow flow.cpp)
target_link_libraries(flow PRIVATE ngf::core ngf::io)
add_executable(embedder embedder.cpp)
target_link_libraries(embedder PRIVATE ngf::core)
add_executable(network network.cpp)
target_link_libraries(network PRIVATE ngf::nn)
"""

README_CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(readme LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
add_executable(my_program readme.cpp)
"""

FLOW = """
#include <cstdio>
#include <ngf/filter.hpp>
#include <ngf/io/read.hpp>
#include <string>

int main(int, char** argv) {
  const std::string path = argv[1];
  const ngf::Taps taps{1, 0.5, 0.25};
  const ngf::FilterOptions options;
  const ngf::Matrix x = ngf::Matrix::Ones(12, 2);
%s
  std::printf("%%g\\n", y(0, 1));
}
"""

EMBEDDER = """
#include <cstdio>
#include <ngf/filter.hpp>
#include <ngf/generate.hpp>

int main() {
  const ngf::Graph graph = ngf::grid(4, 4);
  const ngf::Shells shells = ngf::build_shells(graph, {.hops = 2});
  const ngf::NeighborhoodFilter filter(shells, {0, 1, 1});
  const ngf::Matrix y = filter.apply(ngf::Matrix(ngf::Matrix::Ones(16, 1)));
  std::printf("%g\\n", y(0, 0));
}
"""

NETWORK = """
#include <cstdio>
#include <ngf/generate.hpp>
#include <ngf/nn/layer_filter.hpp>

int main() {
  ngf::ModelSettings settings;
  const ngf::LayerFilter filter(settings, ngf::grid(4, 4), {});
  std::printf("%u\\n", filter.nodes());
}
"""

DEADLINE = """
#include <chrono>
#include <cstdio>
#include <ngf/generate.hpp>
#include <ngf/progress.hpp>
#include <ngf/shells.hpp>

%s
int main() {
  Deadline deadline;
  deadline.time = std::chrono::steady_clock::now();
  try {
    ngf::build_shells(ngf::grid(300, 300), {.hops = 3}, &deadline);
  } catch (const ngf::Interrupted&) {
    std::puts("interrupted");
  }
}
"""


def block(page: str, language: str) -> str:
    """The first block of code of this language."""
    return re.search(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE).group(1)


def run(*command, cwd=None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ngf-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        (cls.folder / "ring.edgelist").write_text(RING)

    def build(self, name: str, files: dict[str, str]) -> pathlib.Path:
        source = self.folder / name
        source.mkdir()
        for file, text in files.items():
            (source / file).write_text(text)
        run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-G", "Ninja")
        run("cmake", "--build", source / "build")
        return source / "build"

    def test_components(self):
        flow = block((ROOT / "HACKING.md").read_text(), "cpp")
        built = self.build("components", {"CMakeLists.txt": CMAKE, "flow.cpp": FLOW % flow, "embedder.cpp": EMBEDDER,
                                          "network.cpp": NETWORK})
        # On a ring two nodes are 1 hop away and two are 2: 1 + 0.5 * 2 + 0.25 * 2.
        self.assertEqual(run(built / "flow", self.folder / "ring.edgelist"), "2.5\n")
        # Of a grid's corner: two neighbors, and three nodes at two hops.
        self.assertEqual(run(built / "embedder"), "5\n")
        self.assertEqual(run(built / "network"), "16\n")
        libraries = {name: run("ldd", built / name) for name in ("flow", "embedder", "network")}
        for other in ("curl", "zip", "ssl", "crypto"):
            self.assertNotIn(other, libraries["embedder"])
            self.assertNotIn(other, libraries["network"])
        # The check above can fail: readers link what they need.
        self.assertIn("curl", libraries["flow"])

    def test_the_readme(self):
        page = (ROOT / "README.md").read_text()
        includes, _, body = block(page, "cpp").partition("\n\n")
        built = self.build("readme", {"CMakeLists.txt": README_CMAKE + block(page, "cmake"),
                                      "readme.cpp": f"{includes}\nint main() {{\n{body}}}\n"})
        (self.folder / "my.edgelist").write_text(RING)
        self.assertEqual(run(built / "my_program", cwd=self.folder), "")

    def test_the_page_for_cpp(self):
        page = (ROOT / "docs/site/from-cpp.md").read_text()
        built = self.build("page", {"CMakeLists.txt": block(page, "cmake"), "hops.cpp": block(page, "cpp")})
        printed = run(built / "hops", self.folder / "ring.edgelist")
        self.assertEqual(printed, "2 is 2 hops from 0\n10 is 2 hops from 0\n1.75\n")
        self.assertEqual(block(page, "cpp").count("build_shells"), 1)

    def test_the_page_on_interrupts(self):
        page = (ROOT / "docs/site/interrupting.md").read_text()
        built = self.build("interrupts", {"CMakeLists.txt": README_CMAKE + "find_package(ngf REQUIRED)\n"
                                          "target_link_libraries(my_program PRIVATE ngf::ngf)\n",
                                          "readme.cpp": DEADLINE % block(page, "cpp")})
        self.assertEqual(run(built / "my_program"), "interrupted\n")

    def test_an_unknown_component_is_refused(self):
        source = self.folder / "unknown"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(CMAKE.replace("core io nn", "core teapot"))
        done = subprocess.run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("teapot", done.stderr)


if __name__ == "__main__":
    unittest.main()
