#!/usr/bin/env bash
# The step of action.yml; runs anywhere: BEFORE=a.json AFTER=b.json BUDGET="nDCG@10: -0.01" bash tools/gate_action.sh
# BUDGET, MARGIN, MIN: a bar a line. The verdict goes to GITHUB_OUTPUT, the tables to GITHUB_STEP_SUMMARY, JUnit to $JUNIT.
set -u
junit=${JUNIT:-rag-quality-gate.xml}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bars=()
add() {
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -z "${line//[[:space:]]/}" ] || bars+=("$1" "$line")
  done <<< "$2"
}
add --budget "${BUDGET:-}"
add --margin "${MARGIN:-}"
add --min "${MIN:-}"
[ -z "${ALLOW:-}" ] || bars+=(--allow "$ALLOW")
rag-quality gate "${BEFORE:-}" "${AFTER:-}" ${bars[@]+"${bars[@]}"} --out "$junit" --out "$work/gate.md" 2> "$work/said"
code=$?
cat "$work/said" >&2
if [ -s "$work/gate.md" ]; then
  case $code in 0) verdict=pass ;; 1) verdict=fail ;; *) verdict=undecidable ;; esac
  cat "$work/gate.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
else
  # nothing was compared: an argument or a file is at fault, which no setting turns into a pass
  echo "### ✗ rag-quality gate: $(tail -n 1 "$work/said")" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
  echo "verdict=undecidable" >> "${GITHUB_OUTPUT:-/dev/null}"
  echo "::error title=rag-quality gate::$(tail -n 1 "$work/said")"
  [ "$code" -ne 0 ] || code=3
  exit "$code"
fi
echo "verdict=$verdict" >> "${GITHUB_OUTPUT:-/dev/null}"
case $verdict in
  fail) echo "::error title=rag-quality gate::실패: 말한 기준보다 나빠졌습니다. 요약을 보세요." ;;
  undecidable) echo "::warning title=rag-quality gate::가릴 수 없습니다. 요약을 보세요." ;;
esac
if [ "$verdict" = undecidable ] && [ "${UNDECIDABLE:-fail}" = warn ]; then exit 0; fi
exit "$code"
