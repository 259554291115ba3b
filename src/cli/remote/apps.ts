/** `gatehouse apps`: manages applications from creation to archive. */
import { UsageError } from '../arguments.ts';
import { type ManagedApp, findApp } from './find.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand, type RemoteDefinition } from './remote-command.ts';
import type { Column } from '../table.ts';

const APP = { name: 'APP', meaning: 'Id, slug or client id. Not needed where there is only one.', isOptional: true };

const FIELDS = {
  name: { value: 'NAME', meaning: 'What people see.' },
  slug: { value: 'SLUG', meaning: 'Its name in addresses.' },
  'return-urls': { value: 'URLS', meaning: 'Where sign-in may return to, separated by commas.' },
  'session-days': { value: 'N', meaning: 'How long a session lasts.' },
  'default-roles': { value: 'ROLES', meaning: 'What people are given on joining, separated by commas.' },
} as const;
const { 'default-roles': _, ...NEW_FIELDS } = FIELDS;

const DAY_SECONDS = 24 * 3600;

function one(call: RemoteCall): Promise<ManagedApp> {
  return findApp(call.client, call.operands[0], '');
}

function stageOf({ stage, archivedAt, deletedAt }: ManagedApp): string {
  return deletedAt !== null ? 'deleted' : archivedAt !== null ? 'archived' : stage;
}

function fieldsOf({ text, list, number }: RemoteCall) {
  const days = number('session-days');
  const [name, slug, returnUrls] = [text('name'), text('slug'), list('return-urls')];
  return {
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(returnUrls !== undefined && { returnUrls }),
    ...(days !== undefined && { sessionTtlSeconds: days * DAY_SECONDS }),
  };
}

function describe({ show }: RemoteCall, application: ManagedApp): Promise<void> {
  const { returnUrls, legalUrls, pendingWork, sessionTtlSeconds } = application;
  return show.record(application, [
    ['Name', application.name],
    ['Id', application.id],
    ['Slug', application.slug],
    ['Client id', application.clientId],
    ['Stage', stageOf(application)],
    ['Sign-in gate', application.signinGate],
    ['Sign-in by', application.signinMethods.join(', ')],
    ['Return URLs', returnUrls.join(', ')],
    ['Terms', legalUrls.terms],
    ['Privacy', legalUrls.privacy],
    ['Default roles', application.defaultRoles.join(', ')],
    ['Sessions last', `${Math.round((sessionTtlSeconds / DAY_SECONDS) * 10) / 10} days`],
    ['Created', show.time(application.createdAt)],
    ...(pendingWork
      ? [['Under way', `${pendingWork.kind}: ${pendingWork.done} of ${pendingWork.total ?? '?'}`] as const]
      : []),
  ]);
}

const COLUMNS: readonly Column<ManagedApp>[] = [
  { title: 'SLUG', of: ({ slug }) => slug, isCut: true },
  { title: 'NAME', of: ({ name }) => name, isCut: true },
  { title: 'STAGE', of: stageOf },
  { title: 'GATE', of: ({ signinGate }) => signinGate },
  { title: 'ID', of: ({ id }) => id },
];

function step(
  word: string,
  summary: string,
  path:
    | '/api/applications/{id}/publish'
    | '/api/applications/{id}/go-live'
    | '/api/applications/{id}/unarchive'
    | '/api/applications/{id}/restore',
  done: (application: ManagedApp) => string,
  next: readonly string[] = [],
): RemoteCommand {
  return remoteCommand({
    name: `apps ${word}`,
    summary,
    operands: [APP],
    next,
    async carryOut(call) {
      const application = await one(call);
      const changed = await call.client.post(path, { path: { id: application.id } });
      await call.show.done(changed, done(application));
    },
  });
}

function lifecycle(
  word: string,
  kind: 'archive' | 'delete',
  texts: Pick<RemoteDefinition, 'summary' | 'next'> & {
    consequence: string;
    done: (application: ManagedApp) => string;
  },
): RemoteCommand {
  const { consequence, done, ...others } = texts;
  return remoteCommand({
    ...others,
    name: `apps ${word}`,
    operands: [APP],
    options: {
      challenge: { value: 'ID', meaning: 'Of the mail, where nobody was there to ask…' },
      code: { value: 'CODE', meaning: '…and its code.' },
    },
    isFinal: true,
    async carryOut(call) {
      const { client, terminal, show, text } = call;
      const application = await one(call);
      const path = { id: application.id };
      let [challengeId, code] = [text('challenge'), text('code')];
      if ((challengeId === undefined) !== (code === undefined))
        throw new UsageError('--challenge and --code belong together: give both, or neither to be mailed a code');
      if (challengeId === undefined) {
        await call.confirm(application.slug, `${application.name}: ${consequence}`);
        const sent = await client.post('/api/applications/{id}/lifecycle/send', { path, body: { kind } });
        ({ challengeId } = sent);
        const again = `gatehouse apps ${word} ${application.slug} --challenge ${challengeId} --code …`;
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
  remoteCommand({
    name: 'apps list',
    summary: 'List the applications',
    isList: true,
    carryOut: ({ client, show, paging }) =>
      show.list(
        {
          columns: COLUMNS,
          page: (query) => client.get('/api/applications', { query }),
          empty: 'There is no application yet. Make one: gatehouse apps create NAME',
        },
        paging,
      ),
  }),
  remoteCommand({
    name: 'apps show',
    summary: 'Show an application',
    operands: [APP],
    carryOut: async (call) => describe(call, await one(call)),
  }),
  remoteCommand({
    name: 'apps create',
    summary: 'Create an application, in stage draft',
    operands: [{ name: 'NAME', meaning: 'What people see.' }],
    options: { ...NEW_FIELDS, workspace: { value: 'ID', meaning: 'In which workspace, for members of several.' } },
    next: ['Next: gatehouse apps publish, then gatehouse keys create NAME'],
    async carryOut(call) {
      const { client, operands, text, show } = call;
      const workspaceId = text('workspace');
      const created = await client.post('/api/applications', {
        query: { ...(workspaceId !== undefined && { workspaceId }) },
        body: { name: operands[0] ?? '', ...fieldsOf(call) },
      });
      await describe(call, created);
      await show.say(`\nNext: gatehouse apps publish ${created.slug}`);
    },
  }),
  remoteCommand({
    name: 'apps update',
    summary: 'Change an application: what is not given stays',
    operands: [APP],
    options: FIELDS,
    async carryOut(call) {
      const defaultRoles = call.list('default-roles');
      const body = { ...fieldsOf(call), ...(defaultRoles !== undefined && { defaultRoles }) };
      if (Object.keys(body).length === 0) throw new UsageError('Say what to change. See "gatehouse help apps update".');
      const { id } = await one(call);
      await describe(call, await call.client.patch('/api/applications/{id}', { path: { id }, body }));
    },
  }),
  step(
    'publish',
    'Bring an application from draft to test',
    '/api/applications/{id}/publish',
    ({ name, slug }) => `${name} is in stage test. With its terms and privacy in place: gatehouse apps go-live ${slug}`,
  ),
  step(
    'go-live',
    'Bring an application from test to live',
    '/api/applications/{id}/go-live',
    ({ name }) => `${name} is live.`,
  ),
  lifecycle('archive', 'archive', {
    summary: 'Take an application out of service; asks for the code of a mail',
    consequence: 'nobody can sign in any more, every session and key ends.',
    done: () => 'is archived. Back: gatehouse apps unarchive',
  }),
  step(
    'unarchive',
    'Bring an archived application back',
    '/api/applications/{id}/unarchive',
    ({ name }) => `${name} is back.`,
  ),
  lifecycle('delete', 'delete', {
    summary: 'Delete an application; asks for the code of a mail',
    consequence:
      'nobody can sign in any more, and every session and key ends. It stays in the lists for 90 days, then it is hidden.',
    // Names the id, because lists do not find a hidden application by its slug.
    done: ({ id }) => `is deleted. Back at any time: gatehouse apps restore ${id}`,
  }),
  step(
    'restore',
    'Bring a deleted application back',
    '/api/applications/{id}/restore',
    ({ name }) => `${name} is back.`,
  ),
];
