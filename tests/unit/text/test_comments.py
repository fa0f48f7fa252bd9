import pytest

from pincite.text.comments import leading_comment


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('"""Counts boats.\n\nIn detail."""\nimport re\n', "Counts boats."),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''Counts.'''\n", "Counts."),
        ("# Counts boats\n# by size.\nx = 1\n", "Counts boats\nby size."),
        ("// Package tide counts.\npackage tide\n", "Package tide counts."),
        ("/**\n * Counts boats.\n *\n * @author Ada\n */\nclass A {}\n", "Counts boats."),
        ("//! Crate for tides.\n//! More.\n", "Crate for tides.\nMore."),
        ("'use strict';\n\n/* Counts. */\n", "Counts."),
        ("/* Copyright 2024 Ada */\n\n/* Counts. */\n", "Counts."),
        ("# Copyright 2024\n# License: MIT\n\n'''Counts.'''\n", "Counts."),
        ("#pragma once\n// Counts.\n", "Counts."),
        ("#ifndef A_H\n#define A_H\n", ""),
        ("/* a.h -- counts boats -*- C++ -*-\n\n   Copyright 2024 Ada */\n", "a.h -- counts boats"),
        ("x = 1\n# later\n", ""),
        ("/* never closed", ""),
        ('"""never closed', ""),
        ("", ""),
    ],
)
def test_what_a_file_begins_with(source: str, said: str) -> None:
    assert leading_comment(source) == said


@pytest.mark.parametrize(
    "source", ["/" + "*" * 20_000, "\n" * 20_000, "#\n" * 10_000, "/**/" * 5_000]
)
def test_hostile_sources_are_cheap(source: str) -> None:
    assert leading_comment(source) == ""
