/**
 * Checks histories of concurrent operations, as Jepsen does: a register must be linearizable, and a set must contain
 * what was acknowledged. Times are of one monotonic clock.
 */

export interface RegisterOperation<Value> {
  readonly kind: 'write' | 'read';
  /** Value written or seen. */
  readonly value: Value;
  readonly begin: number;
  /** Null for a write whose outcome is unknown: it may take effect at any time after its begin, or never. */
  readonly end: number | null;
}

/** State of the search: operations before `first` are done, and so are those of `ahead`, in order. */
interface State<Value> {
  readonly first: number;
  readonly ahead: readonly number[];
  readonly value: Value;
  /** Unknown writes that have taken effect, in order. */
  readonly effects: readonly number[];
}

interface Timed<Value> extends RegisterOperation<Value> {
  readonly end: number;
}

/**
 * Searches for an order of a register's operations that explains every read (Wing and Gong, with Lowe's memory of
 * states). Each operation takes effect at one moment between its begin and its end.
 *
 * @returns null if there is one, else the first operation that no order explains.
 */
export function registerViolation<Value extends string | number | boolean>(
  operations: readonly RegisterOperation<Value>[],
  initial: Value,
): RegisterOperation<Value> | null {
  const known = operations
    .filter((operation): operation is Timed<Value> => operation.end !== null)
    .toSorted((a, b) => a.begin - b.begin);
  const unknown = operations.filter(({ kind, end }) => kind === 'write' && end === null);
  const seen = new Set<string>();
  const open: State<Value>[] = [{ first: 0, ahead: [], value: initial, effects: [] }];
  let furthest = -1;

  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const at = afterReads(known, state);
    if (at.first >= known.length) return null;
    const key = `${at.first}|${at.ahead.join()}|${typeof at.value}${at.value}|${at.effects.join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    furthest = Math.max(furthest, at.first);
    open.push(...nextStates(known, unknown, at));
  }
  return known[furthest] ?? null;
}

/** Returns the operations that may take effect next, and the time before which all of them have begun. */
function candidates<Value>(known: readonly Timed<Value>[], { first, ahead }: State<Value>) {
  const indexes: number[] = [];
  let earliestEnd = Infinity;
  for (let index = first; index < known.length && known[index]!.begin <= earliestEnd; index += 1) {
    if (ahead.includes(index)) continue;
    indexes.push(index);
    earliestEnd = Math.min(earliestEnd, known[index]!.end);
  }
  return { indexes, earliestEnd };
}

/** Does all reads that see the present value: an early read never rules out an order. */
function afterReads<Value>(known: readonly Timed<Value>[], state: State<Value>): State<Value> {
  for (let at = state; ;) {
    const read = candidates(known, at).indexes.find(
      (index) => known[index]!.kind === 'read' && known[index]!.value === at.value,
    );
    if (read === undefined) return at;
    at = withDone(at, read, at.value);
  }
}

function nextStates<Value>(
  known: readonly Timed<Value>[],
  unknown: readonly RegisterOperation<Value>[],
  state: State<Value>,
): State<Value>[] {
  const { indexes, earliestEnd } = candidates(known, state);
  const writes = indexes.filter((index) => known[index]!.kind === 'write');
  const states = writes.map((index) => withDone(state, index, known[index]!.value));
  // An unknown write matters only just before a read of its value; those of one value are interchangeable.
  const wanted = new Set(indexes.filter((index) => known[index]!.kind === 'read').map((index) => known[index]!.value));
  for (const value of wanted) {
    const effect = unknown.findIndex(
      (write, index) => write.value === value && write.begin <= earliestEnd && !state.effects.includes(index),
    );
    if (effect >= 0)
      states.push({ ...state, value, effects: [...state.effects, effect].toSorted((one, other) => one - other) });
  }
  return states;
}

function withDone<Value>({ first, ahead, effects }: State<Value>, index: number, value: Value): State<Value> {
  const done = [...ahead, index].toSorted((one, other) => one - other);
  let next = first;
  while (done[0] === next) {
    done.shift();
    next += 1;
  }
  return { first: next, ahead: done, value, effects };
}

export interface SetAddition {
  readonly value: string;
  readonly outcome: 'acknowledged' | 'refused' | 'unknown';
}

export interface SetViolations {
  /** Acknowledged, and not in the final read. */
  readonly lost: readonly string[];
  /** Refused, and in the final read. */
  readonly revived: readonly string[];
  /** In the final read, and never added. */
  readonly invented: readonly string[];
  /** More than once in the final read. */
  readonly repeated: readonly string[];
}

/** Compares the additions to a set with a read after the last of them. */
export function setViolations(additions: readonly SetAddition[], final: readonly string[]): SetViolations {
  const there = new Set(final);
  const acknowledged = new Set(additions.filter(({ outcome }) => outcome === 'acknowledged').map(({ value }) => value));
  const tried = new Set(additions.map(({ value }) => value));
  const uncertain = new Set(additions.filter(({ outcome }) => outcome === 'unknown').map(({ value }) => value));
  const refused = additions.filter(({ outcome }) => outcome === 'refused').map(({ value }) => value);
  return {
    lost: [...acknowledged].filter((value) => !there.has(value)),
    revived: refused.filter((value) => there.has(value) && !acknowledged.has(value) && !uncertain.has(value)),
    invented: [...there].filter((value) => !tried.has(value)),
    repeated: [...there].filter((value) => final.indexOf(value) !== final.lastIndexOf(value)),
  };
}
