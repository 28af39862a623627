// What differs between two texts, token by token.

/** A JSON string, a word or a number, or what stands between them. */
const DIFF_TOKEN = /"(?:[^"\\]|\\.)*"|[^\s",:]+|\s+|[",:]/g;

/**
 * Both texts in pieces `[text, isChanged]`. What is unchanged are the most tokens that stand in both in the same
 * order. Values that a change keeps have at most 128 characters, so a table of all pairs of tokens is small.
 */
export function differences(before, after) {
  const [left, right] = [before, after].map((text) => text.match(DIFF_TOKEN) || []);
  const shared = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      shared[i][j] = left[i] === right[j] ? shared[i + 1][j + 1] + 1 : Math.max(shared[i + 1][j], shared[i][j + 1]);
    }
  }
  const pieces = [[], []];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && left[i] === right[j]) {
      pieces[0].push([left[i++], false]);
      pieces[1].push([right[j++], false]);
    } else if (j === right.length || (i < left.length && shared[i + 1][j] >= shared[i][j + 1])) {
      pieces[0].push([left[i++], true]);
    } else {
      pieces[1].push([right[j++], true]);
    }
  }
  return pieces;
}
