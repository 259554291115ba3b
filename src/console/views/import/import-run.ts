/**
 * A running import, sent in batches until done, paused or refused.
 * Belongs to the page rather than a view, so it continues in the background; leaving the page asks first.
 */
import { useEffect, useState } from 'preact/hooks';
import { normalizeUsername, usernameProblem } from '../../../core/username.ts';
import { api, ask, type Failure, type Schemas } from '../../api.ts';
import { pause, WAIT_SECONDS } from '../../read-all.ts';
import { type Candidate, type ImportRow, withoutUsername } from './candidates.ts';

type Result = Schemas['ImportResult']['results'][number];
export type ReportOutcome = Result['outcome'] | 'not_sent';

export interface ReportRow {
  readonly line: number;
  readonly email: string;
  readonly outcome: ReportOutcome;
  readonly userId: string | null;
  /** Error code for which the API skipped the row. */
  readonly error: string | null;
  readonly why: string | null;
}

/** `waiting`: rate limited. `failed`: can be resumed. */
type RunState = 'running' | 'waiting' | 'paused' | 'failed' | 'stopped' | 'done';

export interface ImportRun {
  readonly fileName: string;
  readonly state: RunState;
  readonly done: number;
  readonly total: number;
  readonly counts: Readonly<Record<ReportOutcome, number>>;
  /** In file order. */
  readonly report: readonly ReportRow[];
  readonly unknownSlugs: Readonly<Record<'roles' | 'scopes' | 'memberships', readonly string[]>>;
  readonly failure: Failure | null;
  /** Epoch milliseconds; set while waiting. */
  readonly waitsUntil: number | null;
  pause(): void;
  resume(): void;
  stop(): void;
}

interface ImportPlan {
  readonly applicationId: string;
  readonly fileName: string;
  readonly candidates: readonly Candidate[];
  readonly withheldUsernames: ReadonlySet<string>;
}

const CALL_ROWS = 500;
/** Stays below the server's limit of 1 MiB. */
const CALL_BYTES = 900 * 1024;

const runs = new Map<string, ImportRun>();
const listeners = new Set<() => void>();

export function useImportRun(applicationId: string): ImportRun | null {
  const [, setRevision] = useState(0);
  useEffect(() => {
    const listener = () => setRevision((revision) => revision + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return runs.get(applicationId) ?? null;
}

export function forgetImportRun(applicationId: string): void {
  runs.delete(applicationId);
  announce();
}

function announce(): void {
  const isUnfinished = [...runs.values()].some(({ state }) => state !== 'done' && state !== 'stopped');
  if (isUnfinished) addEventListener('beforeunload', askToStay);
  else removeEventListener('beforeunload', askToStay);
  for (const listener of listeners) listener();
}

function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export function startImport({ applicationId, fileName, candidates, withheldUsernames }: ImportPlan): void {
  const encoder = new TextEncoder();
  const report = candidates.map(({ line, email, problem }): ReportRow => ({
    line,
    email,
    outcome: problem === null ? 'not_sent' : 'skipped',
    userId: null,
    error: problem === null ? null : 'not_sendable',
    why: problem,
  }));
  let left = candidates.flatMap(({ problem }, index) => (problem === null ? [index] : []));
  const unknown = { roles: new Set<string>(), scopes: new Set<string>(), memberships: new Set<string>() };
  const counts = { created: 0, linked: 0, already_member: 0, skipped: 0, not_sent: 0 };
  for (const { outcome } of report) counts[outcome] += 1;
  let command: 'run' | 'pause' | 'stop' = 'run';
  let pausing = new AbortController();
  let run: ImportRun = {
    fileName,
    state: 'running',
    done: 0,
    total: left.length,
    counts,
    report,
    unknownSlugs: { roles: [], scopes: [], memberships: [] },
    failure: null,
    waitsUntil: null,
    pause() {
      command = 'pause';
      pausing.abort();
    },
    resume() {
      command = 'run';
      if (run.state === 'paused' || run.state === 'failed') void work();
    },
    stop() {
      command = 'stop';
      pausing.abort();
      if (run.state === 'paused' || run.state === 'failed') show({ state: 'stopped', failure: null });
    },
  };

  function show(change: Partial<ImportRun>): void {
    run = { ...run, ...change };
    runs.set(applicationId, run);
    announce();
  }

  function rowAt(index: number): ImportRow {
    const { row } = candidates[index] as Candidate;
    return withheldUsernames.has(row.profile?.username ?? '') ? withoutUsername(row) : row;
  }

  /** Returns the next batch within the limits of rows and bytes. */
  function nextCall(): { indexes: number[]; users: ImportRow[] } {
    const indexes: number[] = [];
    const users: ImportRow[] = [];
    let bytes = 0;
    for (const index of left.slice(0, CALL_ROWS)) {
      const row = rowAt(index);
      bytes += encoder.encode(JSON.stringify(row)).length + 1;
      if (bytes > CALL_BYTES && users.length > 0) break;
      indexes.push(index);
      users.push(row);
    }
    return { indexes, users };
  }

  function settle(index: number, result: Omit<ReportRow, 'line' | 'email'>): void {
    const row = report[index] as ReportRow;
    counts[row.outcome] -= 1;
    counts[result.outcome] += 1;
    report[index] = { ...row, ...result };
  }

  function take(indexes: readonly number[], { results, unknownSlugs }: Schemas['ImportResult']): void {
    indexes.forEach((index, position) => {
      const { outcome, userId, error = null } = results[position] as Result;
      settle(index, { outcome, userId, error, why: error === null ? null : whyOf(error, rowAt(index)) });
    });
    for (const kind of ['roles', 'scopes', 'memberships'] as const)
      for (const slug of unknownSlugs[kind]) unknown[kind].add(slug);
    left = left.slice(indexes.length);
  }

  /** Drops the rows for which the server refused the whole batch. @returns whether there were any. */
  function leaveOut(indexes: readonly number[], fields: Failure['fields']): boolean {
    const refused = new Map<number, string>();
    for (const { path, message } of fields) {
      const index = indexes[Number(/^users\.(\d+)\b/.exec(path)?.[1])];
      if (index !== undefined) refused.set(index, message);
    }
    for (const [index, why] of refused)
      settle(index, { outcome: 'skipped', userId: null, error: 'invalid_request', why });
    left = left.filter((index) => !refused.has(index));
    return refused.size > 0;
  }

  async function work(): Promise<void> {
    show({ state: 'running', failure: null });
    while (left.length > 0) {
      if (command !== 'run') return show({ state: command === 'pause' ? 'paused' : 'stopped' });
      const { indexes, users } = nextCall();
      const outcome = await ask(
        api.POST('/api/applications/{id}/users/bulk', { params: { path: { id: applicationId } }, body: { users } }),
      );
      if (outcome.ok) take(indexes, outcome.data);
      else if (outcome.status === 429) await wait(outcome.retryAfterSeconds ?? WAIT_SECONDS);
      else if (outcome.status !== 400 || !leaveOut(indexes, outcome.fields))
        return show({ state: 'failed', failure: outcome });
      show({
        state: 'running',
        waitsUntil: null,
        done: run.total - left.length,
        unknownSlugs: { roles: [...unknown.roles], scopes: [...unknown.scopes], memberships: [...unknown.memberships] },
      });
    }
    show({ state: 'done' });
  }

  /** Waits as long as the server asks, or until paused or stopped. */
  async function wait(seconds: number): Promise<void> {
    pausing = new AbortController();
    show({ state: 'waiting', waitsUntil: Date.now() + seconds * 1000 });
    await pause(seconds, pausing.signal);
  }

  void work();
}

const WHYS: Readonly<Record<string, string>> = {
  email_invalid: 'This is not a valid e-mail address.',
  username_invalid:
    'The username cannot be used: 3 to 30 of a-z, 0-9, dot, hyphen and underscore, starting with a letter.',
  user_deleted: 'The account was deleted; restore it first.',
  email_archived: 'The address belonged to an account that has another one now.',
  locale_invalid: 'The language of pages is not a language tag, such as de-AT.',
  timezone_invalid: 'The time zone is not valid; use one such as Europe/Vienna.',
  language_invalid: 'A language is not a language tag, such as de.',
  'field_invalid:profile.givenName': 'The given name cannot be used: one line of at most 100 characters.',
  'field_invalid:profile.familyName': 'The family name cannot be used: one line of at most 100 characters.',
  'field_invalid:profile.fullName': 'The full name cannot be used: one line of at most 100 characters.',
};

const RESERVED_USERNAME = 'The username is reserved, since it could be mistaken for this service or its operator.';

function whyOf(error: string, { profile }: ImportRow): string {
  if (error === 'username_invalid' && usernameProblem(normalizeUsername(profile?.username ?? '')) === 'reserved')
    return RESERVED_USERNAME;
  const [code = '', name] = error.split(':');
  return code === 'username_taken' ? `The username ${name} is taken.` : (WHYS[error] ?? error);
}
