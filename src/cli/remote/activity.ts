/** `gatehouse activity`: lists audit records and follows them live. */
import { UsageError } from '../arguments.ts';
import { follow } from './event-source.ts';
import { APP_OPTION } from './find.ts';
import { flagsOf, fieldsFromFlags } from './flags.ts';
import { operationCommand, sendFields } from './operation-command.ts';
import { operationDescription, type RowOf } from './operations.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand } from './remote-command.ts';
import type { ListPage } from './show.ts';

type Row = RowOf<'listActivity'>;

const LIST = operationDescription('listActivity');

const FLAGS = {
  family: { field: 'family', value: 'KIND' },
  user: { field: 'userId', value: 'ID' },
  email: { field: 'email', value: 'ADDRESS' },
  status: 'status',
} as const;
const APP = { app: { ...APP_OPTION, meaning: 'Only this application: id, slug or client id.' } };

const UNITS: Readonly<{ [unit: string]: number }> = { m: 60_000, h: 3600_000, d: 24 * 3600_000 };
const RECENT = 10;

/** Parses a timestamp or an age such as `30m`. @throws {UsageError} */
function since({ text, terminal }: RemoteCall, flag: string): string {
  const given = text(flag) ?? '';
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
  const at = count === undefined ? Date.parse(given) : terminal.now() - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isNaN(at)) throw new UsageError('--since is no time. Give 30m, 24h, 7d, or a day such as 2026-01-31.');
  return new Date(at).toISOString();
}

function outcomeOf({ kind, ok }: Pick<Row, 'kind' | 'ok'>): string {
  return ok ? kind : `${kind} (failed)`;
}

/** Formats one record with fixed-width columns, since later records are not known yet. */
function lineOf({ show }: RemoteCall, row: Row): string {
  const { createdAt, email, userId, actorType, ip } = row;
  return `${show.time(createdAt)}  ${outcomeOf(row).padEnd(26)} ${(email ?? userId ?? '-').padEnd(28)} ${actorType}${ip ? ` ${ip}` : ''}`;
}

type Filters = Readonly<Partial<Record<'family' | 'userId' | 'email' | 'status', unknown>>>;

function isWanted(record: Row, { family, userId, email, status }: Filters): boolean {
  return (
    (family === undefined || record.kind.startsWith(String(family))) &&
    (userId === undefined || record.userId === userId) &&
    (email === undefined || record.email?.toLowerCase() === String(email).toLowerCase()) &&
    (status === undefined || record.ok === (status === 'ok'))
  );
}

/** Follows the stream, whose records are filtered here, after the most recent of the list. */
const activityTail = remoteCommand({
  name: 'activity tail',
  summary: 'Show the latest activity, and follow it live',
  options: { ...flagsOf(LIST, FLAGS).options, ...APP },
  next: ['With --json a line for each record. Ctrl-C ends it.'],
  async execute(call) {
    const { terminal, target, show } = call;
    const filters: Filters = fieldsFromFlags(call, 'activity tail', LIST, FLAGS);
    const id = call.text('app') === undefined ? null : (await call.application()).id;
    const list = id === null ? operationDescription('listWorkspaceActivity') : LIST;
    const print = (record: Row) => (show.isJson ? show.jsonLine(record) : show.say(lineOf(call, record)));
    const printed = new Set<string>();
    const catchUp = async () => {
      const page = await sendFields(call, list, { ...(id !== null && { id }), ...filters, limit: RECENT });
      for (const record of (page as ListPage<Row>).items.toReversed()) {
        if (printed.has(record.id)) continue;
        printed.add(record.id);
        await print(record);
      }
    };
    const path = id === null ? '/api/workspace/activity/events' : `/api/applications/${id}/activity/events`;
    let caughtUp = Promise.resolve();
    // Opens the stream before reading the list, so that no record is missed between them. Later it resumes automatically.
    const onOpen = (isAgain: boolean) => {
      if (isAgain) return terminal.err('Reconnected; missed records follow.\n');
      caughtUp = catchUp();
      caughtUp.catch(() => {});
    };
    for await (const { name, data } of follow({ terminal, target, path, onOpen })) {
      await caughtUp;
      if (name === 'reload') terminal.err('Some records may be missing: see gatehouse activity list.\n');
      if (name !== 'activity') continue;
      const record = JSON.parse(data) as Row;
      if (printed.delete(record.id) || !isWanted(record, filters)) continue;
      await print(record);
    }
    return 0;
  },
});

export const ACTIVITY: readonly RemoteCommand[] = [
  operationCommand('listActivity', {
    name: 'activity list',
    summary: 'List activity, newest first',
    flags: {
      ...FLAGS,
      since: {
        field: 'from',
        value: 'TIME',
        meaning: '30m, 24h, 7d, or a day such as 2026-01-31.',
        convert: since,
      },
    },
    options: APP,
    instead: ({ text }) => (text('app') === undefined ? 'listWorkspaceActivity' : undefined),
    columns: {
      AT: 'createdAt',
      WHAT: outcomeOf,
      ABOUT: { cut: ({ email, userId }) => email ?? userId },
      BY: 'actorType',
      FROM: ({ ip, ipCountry }) => [ip, ipCountry].filter(Boolean).join(' '),
    },
    empty: 'No activity matches.',
  }),
  activityTail,
];
