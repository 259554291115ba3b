/** `gatehouse gate`: sets who may sign in to an application, and manages its allowlist and waitlist. */
import type { ItemAt } from '../../client/paths.ts';
import { StartupError } from '../../core/startup-error.ts';
import { UsageError } from '../arguments.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand } from './remote-command.ts';

type Interest = ItemAt<'/api/applications/{id}/beta-interests'>;

const GATES = { public: 'public', beta: 'private_beta', closed: 'closed' } as const;
const POLICIES = { ask: 'manual', accept: 'auto_accept', decline: 'auto_decline' } as const;

const WHO = { name: 'WHO', meaning: 'E-mail address, or id (bet_…).' };

function isOneOf<Words extends object>(words: Words, word: string): word is Extract<keyof Words, string> {
  return Object.hasOwn(words, word);
}

async function findInterest({ client, operands: [who = ''] }: RemoteCall, id: string): Promise<string> {
  if (who.startsWith('bet_')) return who;
  if (!who.includes('@')) throw new UsageError(`"${who}" is nobody. Give an e-mail address, or an id (bet_…).`);
  const query = { email: who };
  for await (const row of client.all('/api/applications/{id}/beta-interests', { path: { id }, query })) return row.id;
  throw new StartupError(`${who} is not on the list. Put them on it: gatehouse gate invite ${who}`);
}

export const GATE: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'gate show',
    summary: 'Say who may sign in, and how many wait',
    isOfApplication: true,
    async carryOut({ client, show, application }) {
      const { id, name, signinGate, betaRequestPolicy } = await application();
      const counts = await client.get('/api/applications/{id}/beta-interests/counts', { path: { id } });
      const waiting = counts.pending;
      await show.record({ applicationId: id, signinGate, betaRequestPolicy, counts }, [
        ['Application', name],
        ['Gate', signinGate],
        ['Requests', betaRequestPolicy],
        ['Let in', counts.approved],
        ['Waiting', waiting],
        ['Declined', counts.declined],
        ['To be told when it opens', counts.notifyWhenPublic],
      ]);
      if (waiting > 0) await show.say('\nNext: gatehouse gate list --status pending, then gatehouse gate allow WHO');
    },
  }),
  remoteCommand({
    name: 'gate set',
    summary: 'Open or close the sign-in, at once',
    operands: [
      {
        name: 'GATE',
        meaning: 'public: everybody; beta: who is on the list; closed: nobody.',
        words: Object.keys(GATES),
      },
    ],
    isOfApplication: true,
    async carryOut({ client, show, application, operands: [word = ''] }) {
      if (!isOneOf(GATES, word)) throw new UsageError('Say which gate: public, beta or closed.');
      const { id, name } = await application();
      const changed = await client.post('/api/applications/{id}/signin-gate', {
        path: { id },
        body: { gate: GATES[word] },
      });
      await show.done(changed, `The sign-in gate of ${name} is ${GATES[word]}.`);
    },
  }),
  remoteCommand({
    name: 'gate requests',
    summary: 'Say what becomes of requests, those that wait included',
    operands: [
      { name: 'HOW', meaning: 'ask: you decide; accept or decline: all of them.', words: Object.keys(POLICIES) },
    ],
    switches: { notify: 'Tell those who are let in by it.' },
    isOfApplication: true,
    async carryOut({ client, show, isOn, application, operands: [word = ''] }) {
      if (!isOneOf(POLICIES, word)) throw new UsageError('Say how: ask, accept or decline.');
      const { id } = await application();
      const body = { policy: POLICIES[word], ...(isOn('notify') && { notify: true }) };
      const changed = await client.post('/api/applications/{id}/beta-policy', { path: { id }, body });
      await show.done(changed, `Requests: ${changed.policy}; ${changed.decided} decided by it.`);
    },
  }),
  remoteCommand({
    name: 'gate list',
    summary: 'List who asked and who was invited, newest first',
    options: { status: { value: 'STATUS', meaning: 'Such as pending or approved.' } },
    isOfApplication: true,
    isList: true,
    async carryOut({ client, show, paging, text, application }) {
      const { id } = await application();
      const status = text('status');
      const filter = status === undefined ? {} : { status: status as Interest['status'] };
      await show.list<Interest>(
        {
          columns: [
            { title: 'E-MAIL', of: ({ email }) => email, isCut: true },
            { title: 'STATUS', of: (row) => row.status },
            { title: 'SOURCE', of: ({ source }) => source },
            { title: 'SINCE', of: ({ createdAt }) => show.time(createdAt) },
            { title: 'ID', of: (row) => row.id },
          ],
          page: (query) =>
            client.get('/api/applications/{id}/beta-interests', { path: { id }, query: { ...filter, ...query } }),
          empty: 'Nobody. Invite somebody: gatehouse gate invite ADDRESS',
        },
        paging,
      );
    },
  }),
  remoteCommand({
    name: 'gate invite',
    summary: 'Put addresses on the list of those let in',
    operands: [{ name: 'ADDRESSES', meaning: 'E-mail addresses, separated by commas.' }],
    isOfApplication: true,
    async carryOut({ client, show, application, operands: [addresses = ''] }) {
      const { id } = await application();
      const emails = addresses
        .split(',')
        .map((text) => text.trim())
        .filter(Boolean);
      const body = { emails, status: 'approved' } as const;
      const added = await client.post('/api/applications/{id}/beta-interests', { path: { id }, body });
      const { created, updated, unchanged } = added.summary;
      await show.done(added, `${created} added, ${updated} let in who waited, ${unchanged} there already.`);
    },
  }),
  remoteCommand({
    name: 'gate allow',
    summary: 'Let in somebody who asked',
    operands: [WHO],
    options: {
      notify: { value: 'YES/NO', meaning: 'Whether they are told by mail. Default: whoever waits for it is.' },
    },
    isOfApplication: true,
    async carryOut(call) {
      const { id } = await call.application();
      const path = { id, interestId: await findInterest(call, id) };
      const notify = call.choice('notify', ['yes', 'no']);
      const body = { ...(notify !== undefined && { notify: notify === 'yes' }) };
      const row = await call.client.post('/api/applications/{id}/beta-interests/{interestId}/approve', { path, body });
      await call.show.done(row, `${row.email} may sign in.`);
    },
  }),
  remoteCommand({
    name: 'gate decline',
    summary: 'Turn down somebody who asked',
    operands: [WHO],
    switches: { soft: 'Tell them kindly, and keep them for the mail at the launch.' },
    isOfApplication: true,
    async carryOut(call) {
      const { id } = await call.application();
      const path = { id, interestId: await findInterest(call, id) };
      const body = { ...(call.isOn('soft') && { soft: true }) };
      const row = await call.client.post('/api/applications/{id}/beta-interests/{interestId}/decline', { path, body });
      await call.show.done(row, `${row.email} is declined.`);
    },
  }),
  remoteCommand({
    name: 'gate remove',
    summary: 'Take somebody off the list',
    operands: [WHO],
    isOfApplication: true,
    isFinal: true,
    async carryOut(call) {
      const { id } = await call.application();
      const interestId = await findInterest(call, id);
      await call.confirm(call.operands[0] ?? '', 'The row is removed from the list for good.');
      const gone = await call.client.delete('/api/applications/{id}/beta-interests/{interestId}', {
        path: { id, interestId },
      });
      await call.show.done(gone, 'Removed.');
    },
  }),
];
