#!/usr/bin/env python3
"""Prints where the CUDA toolkit is, or nothing: $CUDA_PATH, $CUDA_HOME, or where it is installed by default."""
import os
import pathlib

for place in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
    if place and (pathlib.Path(place) / "include" / "cuda.h").is_file():
        print(place)
        break
