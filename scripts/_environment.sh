# Sourced by scripts/demo and scripts/test: make or refresh the virtual environment .venv.
#
# Leaves an environment in $venv, or ends with a message that says what is missing. A stamp in it
# names what it was made from, so that a second run costs nothing.
#
#   environment   light: all that tdv-lucene needs; full (the default): also what Pyserini's own
#                 Python imports, PyTorch above all. A full one serves where a light one would.
#   PYTHON        the interpreter to use (default: the first suitable python3.x on the path)

environment=${environment:-full}

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$checkout/.venv
stamp=$venv/tdv-lucene.stamp
install_log=$venv/install.log
network_failure='from versions: none|connection broken|Connection(Error|Refused)|Temporary failure in name|timed out|unreachable|SSLError|ProxyError'
# MB of disk while installing: the environment, and what pip downloads and also keeps in its cache.
needed_light_mb=2000 # without torch: 1.2 GB and twice 0.4 GB
needed_mb=4500       # with a CPU build of torch: 2.8 GB and twice 0.8 GB
needed_cuda_mb=13000 # with its default build and CUDA's libraries: 6.8 GB and twice 3.3 GB

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "error: $1"
    shift
    for line in "$@"; do say "       $line"; done
    exit 1
}

is_suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        is_suitable "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 or newer"
        command -v "$PYTHON"
        return
    fi
    # 3.11 first: constraints.txt was tested on it.
    for candidate in python3.11 python3 python3.12 python3.13; do
        if is_suitable "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer found ($(python3 --version 2>&1 | head -n 1))" \
        "install one (Debian, Ubuntu: apt install python3.11 python3.11-venv)," \
        "or name it: PYTHON=/path/to/python3.11 $0"
}

require_venv_module() {
    "$1" -c 'import venv, ensurepip' 2>/dev/null && return
    fail "$1 cannot make virtual environments: its venv or ensurepip module is missing" \
        "install it (Debian, Ubuntu: apt install python3-venv), or name another Python:" \
        "PYTHON=/path/to/python3.11 $0"
}

brings_cuda() { # whether the torch that pip would choose comes with CUDA's libraries
    [ "$(uname -sm)" = "Linux x86_64" ] || return
    # Where pip cannot say (too old, no network) the answer is no: installing will tell.
    timeout 60 "$venv/bin/python" -m pip install --dry-run --quiet --no-deps --report - --retries 1 \
        --constraint "$checkout/constraints.txt" torch 2>/dev/null |
        grep -qE '"version": "[0-9]+\.[0-9.]+"' # a CPU build's ends with +cpu
}

require_space() {
    local free_mb needed=$needed_mb remedies=()
    if [ "$environment" = light ]; then
        needed=$needed_light_mb
    elif brings_cuda; then
        needed=$needed_cuda_mb
        remedies=("or let pip find a CPU build of PyTorch ($needed_mb MB then): tdv_lucene/README.md, \"Installing\"")
        say "PyTorch comes with CUDA's libraries, 3.3 GB to download in all, though nothing here uses" \
            "them: tdv_lucene/README.md, \"Installing\", says how pip finds its CPU build"
    fi
    free_mb=$(df -Pm "$checkout" | awk 'NR == 2 { print $4 }')
    [ "$free_mb" -ge "$needed" ] && return
    fail "too little disk: $free_mb MB free in $checkout, installing needs $needed MB" "${remedies[@]}"
}

describe_inputs() { # everything the environment depends on, as one digest
    {
        "$1" -c 'import sys; print(sys.version, sys.executable)'
        printf '%s\n' "$checkout"
        cat "$checkout/setup.cfg" "$checkout/pyproject.toml" "$checkout/constraints.txt"
    } | sha256sum | cut -d ' ' -f 1
}

has_the_largest() { # whether what takes most of the disk is there already
    local largest=torch
    [ "$environment" = full ] || largest=jax
    "$venv/bin/python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$largest'))"
}

make_venv() {
    if [ -e "$venv" ] && [ ! -e "$stamp" ]; then
        fail "$venv exists and was not made by this script: move it away"
    fi
    # A whole environment is updated in place, an unfinished one is made anew.
    if [ ! -e "$stamp" ] || [ "$(cat "$stamp")" = unfinished ] || ! is_suitable "$venv/bin/python"; then
        rm -rf "$venv"
        mkdir "$venv" && echo unfinished >"$stamp"
        # The pip that comes with Python 3.11 takes half as long again as today's.
        "$1" -m venv --upgrade-deps "$venv" >"$install_log" 2>&1 || explain_install_failure
    fi
    has_the_largest || require_space
    echo unfinished >"$stamp"
}

install_packages() {
    : >"$install_log"
    if [ "$environment" = light ]; then
        say "Installing into .venv: half a gigabyte to download the first time (log: .venv/install.log)"
        # Pyserini for its jar alone, and what setup.cfg asks for besides.
        pip_install --no-deps "$(requirements --only pyserini)" --editable "$checkout"
        local needed
        mapfile -t needed < <(requirements --without pyserini)
        pip_install "${needed[@]}"
        return
    fi
    say "Installing into .venv: a gigabyte to download the first time, more with CUDA (log: .venv/install.log)"
    pip_install --editable "$checkout[test]"
}

pip_install() {
    # --no-compile: half of the time went into compiling 186 packages, of which few are imported.
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
        --no-compile --constraint "$checkout/constraints.txt" "$@" 2>&1 |
        tee -a "$install_log" | show_install_progress || explain_install_failure
}

requirements() { # what setup.cfg asks for, a line each: --only NAME, or --without NAME
    "$venv/bin/python" - "$checkout/setup.cfg" "$@" <<'EOF'
import configparser
import re
import sys

file, choice, name = sys.argv[1:]
config = configparser.ConfigParser()
config.read(file, encoding="utf-8")
for line in config["options"]["install_requires"].split("\n"):
    if line and not line.startswith("#"):
        is_named = re.split(r"[<>=!~ ;\[]", line)[0] == name
        if is_named == (choice == "--only"):
            print(line)
EOF
}

show_install_progress() { # a line for every 25 packages; the rest of pip's words are in the log
    local line found=0
    while IFS= read -r line; do
        case $line in
        Collecting*) [ $((++found % 25)) -ne 0 ] || say "  $found packages found" ;;
        "Installing collected"*) say "  unpacking $(wc -w <<<"${line#*:}") packages" ;;
        esac
    done
}

explain_install_failure() {
    local reason="the packages could not be installed"
    if grep -q 'No space left on device' "$install_log"; then
        reason="the disk filled up during installation"
    elif grep -qE "$network_failure" "$install_log"; then
        reason="the package index cannot be reached: check the network and pip's configuration"
    fi
    fail "$reason; the end of $install_log:" "$(grep -E '^ *(ERROR|error)' "$install_log" | tail -n 3)"
}

make_environment() {
    local python inputs
    python=$(find_python) || exit 1
    if [ -e "$stamp" ] && grep -q '^full' "$stamp"; then environment=full; fi # never made light again
    inputs="$environment $(describe_inputs "$python")"
    [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$inputs" ] && return
    require_venv_module "$python"
    make_venv "$python"
    install_packages
    echo "$inputs" >"$stamp"
}

make_environment
