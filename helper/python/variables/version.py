"""The kit's version, for ``wfvar --version``; a test holds it to package.json."""

version = "0.1.0"
