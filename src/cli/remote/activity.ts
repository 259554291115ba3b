/** `gatehouse activity`: lists audit records and follows them live. */
import type { ItemAt } from '../../client/paths.ts';
import { UsageError } from '../arguments.ts';
import { follow } from './event-source.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand } from './remote-command.ts';
import type { Column } from '../table.ts';

type Record = ItemAt<'/api/workspace/activity/list'>;

const OF_APP = { app: { value: 'APP', meaning: 'Only of this application: id, slug or client id.' } };
const FILTERS = {
  ...OF_APP,
  family: { value: 'KIND', meaning: 'What a kind begins with, such as signin or apikey.' },
  user: { value: 'ID', meaning: 'About this person, usr_….' },
  email: { value: 'ADDRESS', meaning: 'About this whole address.' },
  status: { value: 'STATUS', meaning: 'ok or error.' },
};

const UNITS: Readonly<{ [unit: string]: number }> = { m: 60_000, h: 3600_000, d: 24 * 3600_000 };
const RECENT = 10;

/** Parses a timestamp or an age such as `30m`. @throws {UsageError} */
function since({ text, terminal }: RemoteCall): string | undefined {
  const given = text('since');
  if (given === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
  const at = count === undefined ? Date.parse(given) : terminal.now() - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isNaN(at)) throw new UsageError('--since is no time. Give 30m, 24h, 7d, or a day such as 2026-01-31.');
  return new Date(at).toISOString();
}

function filtersOf(call: RemoteCall) {
  const { text } = call;
  const [family, userId, email, from] = [text('family'), text('user'), text('email'), since(call)];
  const status = call.choice('status', ['ok', 'error']);
  return {
    ...(family !== undefined && { family }),
    ...(userId !== undefined && { userId }),
    ...(email !== undefined && { email }),
    ...(status !== undefined && { status }),
    ...(from !== undefined && { from }),
  } as const;
}

/** Returns the id of the named application; null for the whole workspace. */
async function scopeOf(call: RemoteCall): Promise<string | null> {
  return call.text('app') === undefined ? null : (await call.application()).id;
}

function lister({ client }: RemoteCall, id: string | null, filters: ReturnType<typeof filtersOf>) {
  return (page: object) => {
    const query = { ...filters, ...page };
    return id === null
      ? client.get('/api/workspace/activity/list', { query })
      : client.get('/api/applications/{id}/activity/list', { path: { id }, query });
  };
}

const columns = ({ show }: RemoteCall): readonly Column<Record>[] => [
  { title: 'AT', of: ({ createdAt }) => show.time(createdAt) },
  { title: 'WHAT', of: ({ kind, ok }) => (ok ? kind : `${kind} (failed)`) },
  { title: 'ABOUT', of: ({ email, userId }) => email ?? userId, isCut: true },
  { title: 'BY', of: ({ actorType }) => actorType },
  { title: 'FROM', of: ({ ip, ipCountry }) => [ip, ipCountry].filter(Boolean).join(' ') },
];

/** Formats one record with fixed-width columns, since later records are not known yet. */
function lineOf({ show }: RemoteCall, { createdAt, kind, ok, email, userId, actorType, ip }: Record): string {
  const what = ok ? kind : `${kind} (failed)`;
  return `${show.time(createdAt)}  ${what.padEnd(26)} ${(email ?? userId ?? '-').padEnd(28)} ${actorType}${ip ? ` ${ip}` : ''}`;
}

function isWanted(record: Record, { family, userId, email, status }: ReturnType<typeof filtersOf>): boolean {
  return (
    (family === undefined || record.kind.startsWith(family)) &&
    (userId === undefined || record.userId === userId) &&
    (email === undefined || record.email?.toLowerCase() === email.toLowerCase()) &&
    (status === undefined || record.ok === (status === 'ok'))
  );
}

export const ACTIVITY: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'activity list',
    summary: 'List what happened, newest first',
    options: { ...FILTERS, since: { value: 'TIME', meaning: '30m, 24h, 7d, or a day such as 2026-01-31.' } },
    isList: true,
    async carryOut(call) {
      const page = lister(call, await scopeOf(call), filtersOf(call));
      await call.show.list<Record>({ columns: columns(call), page, empty: 'Nothing that fits.' }, call.paging);
    },
  }),
  remoteCommand({
    name: 'activity tail',
    summary: 'Show what happened last, and what happens from now on',
    options: FILTERS,
    next: ['With --json a line for each record. Ctrl-C ends it.'],
    async carryOut(call) {
      const { terminal, target, show } = call;
      const filters = filtersOf(call);
      const id = await scopeOf(call);
      const tell = (record: Record) => (show.isJson ? show.jsonLine(record) : show.say(lineOf(call, record)));
      const told = new Set<string>();
      const catchUp = async () => {
        const { items } = await lister(call, id, filters)({ limit: RECENT });
        for (const record of items.toReversed()) {
          if (told.has(record.id)) continue;
          told.add(record.id);
          await tell(record);
        }
      };
      const path = id === null ? '/api/workspace/activity/events' : `/api/applications/${id}/activity/events`;
      let isCaughtUp = Promise.resolve();
      // Opens the stream before reading the list, so that no record is missed between them. Later it resumes by itself.
      const onOpen = (isAgain: boolean) => {
        if (isAgain) return terminal.err('Connected again; what was missed follows.\n');
        isCaughtUp = catchUp();
        isCaughtUp.catch(() => {});
      };
      for await (const { name, data } of follow({ terminal, target, path, onOpen })) {
        await isCaughtUp;
        if (name === 'reload') terminal.err('Some records may be missing: see gatehouse activity list.\n');
        if (name !== 'activity') continue;
        const record = JSON.parse(data) as Record;
        if (told.delete(record.id) || !isWanted(record, filters)) continue;
        await tell(record);
      }
      return 0;
    },
  }),
];
