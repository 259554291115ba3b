/** `gatehouse users import`: imports a file of people in batches, ours or another service's; idempotent. */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { GivenAt } from '../../client/paths.ts';
import { rowsOfCsv } from '../../core/csv.ts';
import { StartupError } from '../../core/startup-error.ts';
import { fileRow, type ImportedField, plainHeading, USER_COLUMNS } from '../../core/user-columns.ts';
import { oneOf } from '../arguments.ts';
import { readError } from '../read-error.ts';
import { type RemoteCall, remoteCommand } from './remote-command.ts';
import type { LeftOut } from './user-exports/source-user.ts';
import { readExport } from './user-exports/read-export.ts';
import { SOURCE_NAMES, SOURCES } from './user-exports/sources.ts';

type Rows = GivenAt<'/api/applications/{id}/users/bulk', 'post'>[0]['body']['users'];
type Row = Rows[number];

/** API limit. */
const ROWS_A_CALL = 500;
const USERS_A_CHANGE = 200;
const REFUSALS_SHOWN = 20;

export const usersImport = remoteCommand({
  name: 'users import',
  summary: 'Import users from a file',
  operands: [{ name: 'FILE', meaning: 'CSV with a header, JSON, or a JSON object a line (.jsonl).' }],
  isOfApplication: true,
  options: {
    from: { value: 'SERVICE', meaning: `The file is an export of ${oneOf(SOURCE_NAMES)}.` },
  },
  next: [
    'Columns of a CSV, as exports have them: email, username, givenName, familyName,',
    'fullName, locale, timezone, externalId, metadata (JSON), and roles, groups,',
    'scopes and languages (en:NATIVE) with spaces between.',
    'Nobody is mailed. Empty fields are filled, nothing is overwritten.',
    'With --from, ids become external ids, and users banned there are banned here.',
    '',
    'Next: gatehouse users list',
  ],
  async execute({ client, terminal, operands: [file = ''], show, application, choice }) {
    const from = choice('from', SOURCE_NAMES);
    const { rows, blocked, leftOut, lostUsernames } = await peopleIn(file, from, terminal.now());
    const { id } = await application();
    const summary: Record<string, number> = { requested: 0, created: 0, linked: 0, alreadyMember: 0, skipped: 0 };
    let banned = 0;
    const refused: { email: string; error: string | undefined }[] = [];
    const unknown = { roles: new Set<string>(), scopes: new Set<string>(), memberships: new Set<string>() };
    for (let start = 0; start < rows.length; start += ROWS_A_CALL) {
      const users = rows.slice(start, start + ROWS_A_CALL);
      const answer = await client.post('/api/applications/{id}/users/bulk', { path: { id }, body: { users } });
      for (const [name, count] of Object.entries(answer.summary)) summary[name] = (summary[name] ?? 0) + count;
      for (const { outcome, email, error } of answer.results) if (outcome === 'skipped') refused.push({ email, error });
      const toBan = answer.results.flatMap(({ userId }, at) =>
        userId !== null && blocked.has(start + at) ? userId : [],
      );
      banned += await ban(client, id, [...new Set(toBan)], from);
      for (const name of ['roles', 'scopes', 'memberships'] as const)
        for (const slug of answer.unknownSlugs[name]) unknown[name].add(slug);
      terminal.progress(`${Math.min(start + ROWS_A_CALL, rows.length)} of ${rows.length} rows`);
    }
    terminal.progress(null);
    const unknownSlugs = Object.fromEntries(Object.entries(unknown).map(([name, slugs]) => [name, [...slugs]]));
    if (show.isJson)
      await show.json({
        summary,
        skipped: refused,
        unknownSlugs,
        ...(from !== undefined && { banned, leftOut, lostUsernames }),
      });
    else {
      const { created, linked, alreadyMember, skipped } = summary;
      await show.say(`${created} created, ${linked} linked, ${alreadyMember} there already, ${skipped} skipped.`);
      if (banned > 0) await show.say(`${banned} banned here, as there.`);
      for (const [reason, users] of Map.groupBy(leftOut, (one) => one.reason))
        terminal.err(`Left out, ${reason}: ${shortList(users.map((user) => user.id))}\n`);
      if (lostUsernames.length > 0) terminal.err(`Usernames not allowed here, left out: ${shortList(lostUsernames)}\n`);
      for (const [name, slugs] of Object.entries(unknownSlugs))
        if (slugs.length > 0)
          terminal.err(`Unknown ${name === 'memberships' ? 'groups' : name}, not given: ${slugs.join(', ')}\n`);
      for (const { email, error } of refused.slice(0, REFUSALS_SHOWN))
        terminal.err(`skipped  ${email}  ${error ?? ''}\n`);
      if (refused.length > REFUSALS_SHOWN)
        terminal.err(`…and ${refused.length - REFUSALS_SHOWN} more; --json has all.\n`);
    }
    return refused.length > 0 ? 1 : 0;
  },
});

interface People {
  readonly rows: Rows;
  /** Indices of rows whose users are banned after the import. */
  readonly blocked: ReadonlySet<number>;
  readonly leftOut: readonly LeftOut[];
  readonly lostUsernames: readonly string[];
}

/** Reads a file of ours or of another service. @throws {StartupError} naming the place that cannot be read. */
async function peopleIn(file: string, from: keyof typeof SOURCES | undefined, now: number): Promise<People> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(readFileSync(file));
  } catch (error) {
    throw readError(file, error);
  }
  if (from === undefined) {
    const rows = await rowsIn(file, new TextDecoder().decode(bytes));
    return { rows, blocked: new Set(), leftOut: [], lostUsernames: [] };
  }
  try {
    const { users, leftOut } = await readExport(file, bytes, SOURCES[from], now);
    return {
      rows: users.map(({ row }) => row),
      blocked: new Set(users.flatMap(({ isBlocked }, at) => (isBlocked ? at : []))),
      leftOut,
      lostUsernames: users.flatMap(({ lostUsername }) => lostUsername ?? []),
    };
  } catch (error) {
    throw new StartupError(
      `${file} cannot be imported as an export of ${SOURCES[from].name}: ${(error as Error).message}`,
    );
  }
}

/** Bans users before the next batch. Returns how many were not banned yet. */
async function ban(
  client: RemoteCall['client'],
  id: string,
  userIds: readonly string[],
  from: keyof typeof SOURCES | undefined,
): Promise<number> {
  if (from === undefined) return 0;
  let changed = 0;
  for (let start = 0; start < userIds.length; start += USERS_A_CHANGE) {
    const { summary } = await client.post('/api/applications/{id}/users/actions', {
      path: { id },
      body: {
        action: 'ban',
        userIds: userIds.slice(start, start + USERS_A_CHANGE),
        reason: `Banned or disabled at ${SOURCES[from].name}`,
      },
    });
    changed += summary.changed;
  }
  return changed;
}

function shortList(names: readonly string[]): string {
  const more = names.length - REFUSALS_SHOWN;
  return names.slice(0, REFUSALS_SHOWN).join(', ') + (more > 0 ? ` and ${more} more; --json has all` : '');
}

/** Reads the rows of a file of ours. @throws {StartupError} naming the row that cannot be read. */
async function rowsIn(file: string, text: string): Promise<Rows> {
  const kind = extname(file).toLowerCase();
  try {
    const rows =
      kind === '.json'
        ? listOf(JSON.parse(text))
        : kind === '.jsonl' || kind === '.ndjson'
          ? lines(text)
          : await csv(text);
    const missing = rows.findIndex((row) => typeof row?.email !== 'string' || row.email === '');
    if (missing >= 0) throw new Error(`row ${missing + 1} has no email`);
    return rows;
  } catch (error) {
    throw new StartupError(
      `${file} cannot be imported: ${(error as Error).message}. See "gatehouse help users import".`,
    );
  }
}

function listOf(value: unknown): Rows {
  const rows = (value as { users?: unknown } | null)?.users ?? value;
  if (!Array.isArray(rows)) throw new Error('it is neither a list nor an object with "users"');
  return rows as Rows;
}

function lines(text: string): Rows {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as Row];
    } catch {
      throw new Error(`line ${at + 1} is no JSON`);
    }
  });
}

type Level = NonNullable<NonNullable<Row['profile']>['languages']>[number]['level'];

async function csv(text: string): Promise<Rows> {
  const [header = [], ...rows] = await rowsOfCsv(text);
  const places = new Map<ImportedField, number>();
  for (const [at, heading] of header.entries()) {
    const column = USER_COLUMNS.find(({ name }) => plainHeading(name) === plainHeading(heading));
    if (!column)
      throw new Error(`there is no column "${heading}"; there are ${USER_COLUMNS.map(({ name }) => name).join(', ')}`);
    if (column.field === null) continue;
    if (places.has(column.field)) throw new Error(`the column "${column.name}" is there twice`);
    places.set(column.field, at);
  }
  if (!places.has('email')) throw new Error('its first line has no column "email"');
  return rows
    .filter((cells) => cells.some((cell) => cell.trim() !== ''))
    .map((cells) => fileRow<Level>((field) => cells[places.get(field) ?? -1]?.trim() ?? ''));
}
