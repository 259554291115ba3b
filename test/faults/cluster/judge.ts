/** Judges a run after its load: histories, sets, ended credentials and limits. */
import { registerViolation, setViolations } from '../../support/history.ts';
import { isDone, isUnknown } from './client.ts';
import { LIMITS } from './races.ts';
import { PLACES, type Scene } from './scene.ts';

const MINUTE_MS = 60_000;
const SHOWN = 5;

/** Returns broken promises. @param finals values of each set at the end, from the database. */
export async function judge(scene: Scene, finals: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  return [
    ...scene.records.problems,
    ...scene.client.problems,
    ...registerProblems(scene),
    ...setProblems(scene, finals),
    ...limitProblems(scene),
    ...(await credentialProblems(scene)),
  ];
}

function registerProblems({ records }: Scene): string[] {
  return [...records.registers].flatMap(([name, { initial, operations }]) => {
    const violation = registerViolation(operations, initial);
    return violation === null ? [] : [`the history of ${name} is not linearizable at ${JSON.stringify(violation)}`];
  });
}

function setProblems({ records }: Scene, finals: Readonly<Record<string, readonly string[]>>): string[] {
  return [...records.sets].flatMap(([name, additions]) =>
    Object.entries(setViolations(additions, finals[name] ?? [])).flatMap(([what, values]) =>
      values.length === 0 ? [] : [`${values.length} of ${name} are ${what}: ${values.slice(0, SHOWN).join()}`],
    ),
  );
}

/** Counts only calls that lie within one window: another window may have admitted those at its edges. */
function limitProblems({ records }: Scene): string[] {
  return [...records.admitted].flatMap(([name, calls]) => {
    const minutes = new Map<number, number>();
    for (const { begin, end } of calls) {
      const minute = Math.floor(begin / MINUTE_MS);
      if (minute === Math.floor(end / MINUTE_MS)) minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    }
    const most = Math.max(0, ...minutes.values());
    const isMinuteLimited = name.endsWith(' 0');
    return [
      ...(isMinuteLimited && most > LIMITS.perMinute ? [`${name}: ${most} calls in a minute`] : []),
      ...(calls.length > LIMITS.perDay ? [`${name}: ${calls.length} calls in a day`] : []),
    ];
  });
}

async function credentialProblems(scene: Scene): Promise<string[]> {
  const { records, client } = scene;
  const use = async (place: (typeof PLACES)[number], { token, kind }: (typeof records.ended)[number]) => {
    for (;;) {
      const sent =
        kind === 'session' ? await scene.verify(place, token) : await client.send(place, 'GET', scene.path, { token });
      if (!isUnknown(sent)) return isDone(sent);
      await Bun.sleep(100);
    }
  };
  const problems: string[] = [];
  for (const [at, one] of records.ended.entries())
    if (await use(PLACES[at % 2]!, one)) problems.push(`wrong verdict: a ${one.kind} that was ended is active`);
  for (const [at, one] of records.kept.entries())
    if (!(await use(PLACES[at % 2]!, one))) problems.push(`lost: a ${one.kind} that was kept is refused`);
  return problems;
}
