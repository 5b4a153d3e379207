#!/usr/bin/python3
"""`ngf denoise` as a user meets it: what it reads, writes, prints and refuses."""

import unittest
import xml.etree.ElementTree

import numpy as np

from python_support import ProgramTest

NODES = 60
GRAPH = f"sbm:nodes={NODES},blocks=3,p=0.4,q=0.02,seed=1"
QUICK = ("--epochs", "80", "--hidden", "24", "--folds", "4")


class DenoiseTest(ProgramTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        levels = np.repeat(random.normal(size=(3, 4)), NODES // 3, axis=0)
        self.clean = 20 + 5 * levels
        self.noisy = self.clean + random.normal(size=levels.shape)
        np.save(self.folder / "clean.npy", self.clean)
        np.save(self.folder / "noisy.npy", self.noisy)

    def denoise(self, *flags, signal="noisy.npy", out="out.npy"):
        return self.json("denoise", GRAPH, "--signal", signal, "-o", out, *QUICK, *flags)

    def test_keys_and_values(self):
        value = self.denoise("--clean", "clean.npy")
        found = np.load(self.folder / "out.npy")
        self.assertEqual(found.shape, self.noisy.shape)
        errors = ((found - self.clean) ** 2).sum(0) / (self.clean**2).sum(0)
        np.testing.assert_allclose(value["error"], errors, rtol=1e-9)
        noisy = ((self.noisy - self.clean) ** 2).sum(0) / (self.clean**2).sum(0)
        np.testing.assert_allclose(value["error_noisy"], noisy, rtol=1e-9)
        self.assertEqual(len(value["error_oracle"]), 4)
        self.assertLess(value["median"]["error"], 0.6 * value["median"]["error_noisy"])
        self.assertEqual(len(value["epochs"]), 4)
        self.assertEqual((value["arch"], value["stop"], value["signals"]), ("ngf", "blind", 4))
        self.assertEqual(value["written"], "out.npy")

    def test_without_the_clean_signal(self):
        value = self.denoise()
        self.assertNotIn("error", value)
        blind = np.load(self.folder / "out.npy")
        self.denoise("--clean", "clean.npy")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), blind)

    def test_every_architecture_and_rule(self):
        for arch in ["ngf", "gf", "gcn", "sgc", "tikhonov", "median"]:
            value = self.denoise("--arch", arch, "--stop", "epochs:10", "--clean", "clean.npy")
            self.assertEqual(value["epochs"], [0 if arch in ("tikhonov", "median") else 10] * 4)
        for rule in ["blind", "sure", "variance", "oracle"]:
            value = self.denoise("--stop", rule, "--clean", "clean.npy")
            if rule == "oracle":
                self.assertEqual(value["error"], value["error_oracle"])
        self.denoise("--optimizer", "gd", "--lr", "1e-4", "--stop", "epochs:5")
        self.denoise("--layers", "3", "--stop", "epochs:5", "--taps", "0.5,0.5", "--normalize", "symmetric")
        self.denoise("--arch", "gf", "--shift", "adjacency-lmax", "--stop", "sure", "--noise-level", "1")

    def test_rows_and_columns_csv_and_npy(self):
        self.denoise()
        expected = np.load(self.folder / "out.npy")
        np.save(self.folder / "rows.npy", self.noisy.T)
        self.denoise(signal="rows.npy")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), expected.T)
        np.savetxt(self.folder / "noisy.csv", self.noisy, delimiter=",", fmt="%.17g")
        self.denoise(signal="noisy.csv", out="out.csv")
        np.testing.assert_allclose(np.loadtxt(self.folder / "out.csv", delimiter=","), expected, rtol=1e-12)
        # One signal alone is what it is among others.
        np.save(self.folder / "one.npy", self.noisy[:, 2])
        self.denoise(signal="one.npy")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy").ravel(), expected[:, 2])

    def test_threads_do_not_matter(self):
        results = []
        for threads in ["1", "2"]:
            self.denoise("--threads", threads)
            results.append(np.load(self.folder / "out.npy"))
        np.testing.assert_array_equal(*results)

    def test_missing_values_are_filled_in(self):
        self.noisy[[4, 30, 59], 0] = np.nan
        np.save(self.folder / "noisy.npy", self.noisy)
        for arch in ["ngf", "tikhonov", "median"]:
            value = self.denoise("--arch", arch, "--clean", "clean.npy")
            self.assertTrue(np.isfinite(np.load(self.folder / "out.npy")).all())
            self.assertIsNone(value["error_noisy"][0])

    def test_constant_signals_stay(self):
        np.save(self.folder / "noisy.npy", np.full((NODES, 1), 3.5))
        self.assertEqual(self.denoise()["left_alone"], [True])
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.full((NODES, 1), 3.5))

    def test_plot(self):
        for flags in [(), ("--clean", "clean.npy"), ("--arch", "median")]:
            self.denoise("--plot", "plot.svg", *flags)
            root = xml.etree.ElementTree.parse(self.folder / "plot.svg").getroot()
            self.assertTrue(root.tag.endswith("svg"))

    def test_words(self):
        out = self.succeed("denoise", GRAPH, "--signal", "noisy.npy", "-o", "out.npy", *QUICK,
                           "--clean", "clean.npy").out
        self.assertIn("4 signals denoised by ngf", out)
        self.assertIn("stopped by blind after", out)

    def refuse(self, signal, *parts, flags=()):
        np.save(self.folder / "bad.npy", signal)
        outcome = self.ngf("denoise", GRAPH, "--signal", "bad.npy", "-o", "no.npy", *QUICK, *flags)
        self.assert_one_line(outcome, "bad.npy", *parts)
        self.assertFalse((self.folder / "no.npy").exists())

    def test_errors(self):
        self.refuse(self.noisy[:-1], "59 x 4", "60 nodes")
        self.noisy[7, 2] = np.inf
        self.refuse(self.noisy, "signal 2 is infinite at node 7")
        self.noisy[:, 2] = np.nan
        self.refuse(self.noisy, "signal 2 has no value")
        self.noisy[:, 2] = 0
        self.refuse(self.noisy[:, :3], "clean.npy: 4 clean signals for 3", flags=("--clean", "clean.npy"))

    def test_files_that_cannot_be_written_are_told_before_the_fit(self):
        for flags, text in [(("-o", "out.xyz"), ".npy or .csv"), (("-o", "none/out.npy"), "none"),
                            (("-o", "out.npy", "--plot", "none/p.svg"), "none"),
                            (("-o", "out.npy", "--plot", "p.png"), "p.png: pictures are written as .svg")]:
            outcome = self.ngf("denoise", GRAPH, "--signal", "noisy.npy", "--epochs", "100000000", "--stop", "variance", *flags)
            self.assert_one_line(outcome, text)
            self.assertFalse((self.folder / "out.npy").exists())

    def test_usage(self):
        base = ("denoise", GRAPH, "--signal", "noisy.npy", "-o", "out.npy")
        for flags in [("--stop", "oracle"), ("--stop", "epochs:0"), ("--stop", "never"), ("--arch", "mlp"),
                      ("--folds", "1"), ("--noise-level", "-1"), ("--optimizer", "sgd"),
                      *((flag, value) for flag in ("--noise-level", "--lr", "--taps")
                        for value in ("nan", "inf", "1e400", ""))]:
            self.assertEqual(self.ngf(*base, *flags).code, 2, flags)


if __name__ == "__main__":
    unittest.main()
