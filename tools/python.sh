#!/bin/sh
# Print the Python that .venv is made of: the newest of 3.11 to 3.13 found on PATH.
# Where pip keeps torch in a folder of its own (find-links), the newest for which that folder has a file comes first:
# what lies at hand is a CPU build, what would be fetched instead may be gigabytes of CUDA.
newest=
for name in python3.13 python3.12 python3.11 python3 python; do
    tag=$("$name" -c 'import sys; v = sys.version_info[:2]; print("cp%d%d" % v if (3, 11) <= v <= (3, 13) else "")' 2>/dev/null)
    [ -n "$tag" ] || continue
    [ -n "$newest" ] || { newest=$name; folders="$PIP_FIND_LINKS $("$name" -m pip config get global.find-links 2>/dev/null)"; }
    for folder in $folders; do
        for file in "$folder"/torch-*-"$tag"-*.whl; do
            [ -f "$file" ] && { echo "$name"; exit 0; }
        done
    done
done
[ -n "$newest" ] && { echo "$newest"; exit 0; }
echo "Python 3.11, 3.12, 3.13 가운데 하나가 PATH에 있어야 합니다. 다른 자리에 있으면: make PYTHON=/그/자리/python3 ..." >&2
exit 2
