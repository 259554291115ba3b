/** `gatehouse apps`: manages applications from creation to archive. */
import { UsageError } from '../arguments.ts';
import { findApp, type ManagedApp } from './find.ts';
import { operationCommand } from './operation-command.ts';
import { APP_OPERAND } from './path-operands.ts';
import { remoteCommand, type RemoteCommand, type RemoteDefinition } from './remote-command.ts';
import type { Facts } from './show.ts';

const DAY_SECONDS = 24 * 3600;

const FLAGS = {
  name: { field: 'name', meaning: 'Name that people see.' },
  slug: 'slug',
  'return-urls': {
    field: 'returnUrls',
    value: 'URLS',
    meaning: 'Addresses that sign-in may return to, separated by commas.',
  },
  'session-days': {
    field: 'sessionTtlSeconds',
    value: 'N',
    meaning: 'How long a session lasts.',
    convert: ({ number }, flag) => (number(flag) ?? 0) * DAY_SECONDS,
  },
} as const satisfies Parameters<typeof operationCommand<'createApplication'>>[1]['flags'];

function stageOf({ stage, archivedAt, deletedAt }: ManagedApp): string {
  return deletedAt !== null ? 'deleted' : archivedAt !== null ? 'archived' : stage;
}

const RECORD: Facts<ManagedApp> = {
  Name: 'name',
  Id: 'id',
  Slug: 'slug',
  'Client id': 'clientId',
  Stage: stageOf,
  'Sign-in gate': 'signinGate',
  'Sign-in by': 'signinMethods',
  'Return URLs': 'returnUrls',
  Terms: ({ legalUrls }) => legalUrls.terms ?? null,
  Privacy: ({ legalUrls }) => legalUrls.privacy ?? null,
  Home: ({ branding }) => branding.homeUrl,
  Support: ({ branding }) => branding.supportUrl ?? branding.supportEmail,
  'Default roles': 'defaultRoles',
  'Sessions last': ({ sessionTtlSeconds }) => `${Math.round((sessionTtlSeconds / DAY_SECONDS) * 10) / 10} days`,
  Created: 'createdAt',
  'In progress': ({ pendingWork: work }) => (work ? `${work.kind}: ${work.done} of ${work.total ?? '?'}` : undefined),
};

function step(
  word: string,
  id: 'publishApplication' | 'goLiveApplication' | 'unarchiveApplication' | 'restoreApplication',
  done: (application: ManagedApp) => string,
): RemoteCommand {
  return operationCommand(id, { name: `apps ${word}`, isAppOperand: true, done });
}

/** Archives or deletes an application in two calls: the second needs the code that the first mails. */
function lifecycle(
  kind: 'archive' | 'delete',
  summary: string,
  consequence: string,
  done: (application: ManagedApp) => string,
): RemoteCommand {
  const options: RemoteDefinition['options'] = {
    challenge: { value: 'ID', meaning: 'Challenge id of the mail, for scripts…' },
    code: { value: 'CODE', meaning: '…and its code.' },
  };
  return remoteCommand({
    name: `apps ${kind}`,
    summary,
    operands: [APP_OPERAND],
    options,
    isFinal: true,
    async execute(call) {
      const { client, terminal, show, text } = call;
      const application = await findApp(client, call.operands[0], '');
      const path = { id: application.id };
      let [challengeId, code] = [text('challenge'), text('code')];
      if ((challengeId === undefined) !== (code === undefined))
        throw new UsageError('--challenge and --code belong together: give both, or neither to be mailed a code');
      if (challengeId === undefined) {
        await call.confirm(application.slug, `${application.name}: ${consequence}`);
        const sent = await client.post('/api/applications/{id}/lifecycle/send', { path, body: { kind } });
        ({ challengeId } = sent);
        const again = `gatehouse apps ${kind} ${application.slug} --challenge ${challengeId} --code …`;
        if (!terminal.canAsk) return show.done(sent, `A code was mailed. With it: ${again}`);
        code = await terminal.ask('A code was mailed to you. The code: ');
      }
      const body = { challengeId, code: code ?? '' };
      const changed = await client.post('/api/applications/{id}/lifecycle/confirm', { path, body });
      await show.done(changed, `${application.name} ${done(changed)}`);
    },
  });
}

export const APPS: readonly RemoteCommand[] = [
  operationCommand('listApplications', {
    name: 'apps list',
    columns: { SLUG: { cut: 'slug' }, NAME: { cut: 'name' }, STAGE: stageOf, GATE: 'signinGate', ID: 'id' },
    empty: 'There is no application yet. Make one: gatehouse apps create NAME',
  }),
  remoteCommand({
    name: 'apps show',
    summary: 'Show an application',
    operands: [APP_OPERAND],
    execute: async ({ client, show, operands }) => show.record(await findApp(client, operands[0], ''), RECORD),
  }),
  operationCommand('createApplication', {
    name: 'apps create',
    operands: [{ field: 'name', name: 'NAME', meaning: 'Name that people see.' }],
    flags: {
      slug: FLAGS.slug,
      'return-urls': FLAGS['return-urls'],
      'session-days': FLAGS['session-days'],
      workspace: { field: 'workspaceId', value: 'ID' },
    },
    next: ['Next: gatehouse apps publish, then gatehouse keys create NAME'],
    record: RECORD,
    after: ({ slug }) => `Next: gatehouse apps publish ${slug}`,
  }),
  operationCommand('updateApplication', {
    name: 'apps update',
    summary: 'Change an application; omitted fields keep their values',
    isAppOperand: true,
    flags: { ...FLAGS, 'default-roles': 'defaultRoles' },
    record: RECORD,
  }),
  step(
    'publish',
    'publishApplication',
    ({ name, slug }) => `${name} is in stage test. With its terms and privacy in place: gatehouse apps go-live ${slug}`,
  ),
  step('go-live', 'goLiveApplication', ({ name }) => `${name} is live.`),
  lifecycle(
    'archive',
    'Take an application out of service; asks for a mailed code',
    'nobody can sign in any more, every session and key ends.',
    () => 'is archived. Back: gatehouse apps unarchive',
  ),
  step('unarchive', 'unarchiveApplication', ({ name }) => `${name} is back.`),
  lifecycle(
    'delete',
    'Delete an application; asks for a mailed code',
    'nobody can sign in any more, and every session and key ends. It stays in the lists for 90 days, then it is hidden.',
    // Names the id, because lists do not find a hidden application by its slug.
    ({ id }) => `is deleted. Back at any time: gatehouse apps restore ${id}`,
  ),
  step('restore', 'restoreApplication', ({ name }) => `${name} is back.`),
];
