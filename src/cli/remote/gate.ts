/** `gatehouse gate`: sets who may sign in to an application, and manages its allowlist and waitlist. */
import { operationCommand } from './operation-command.ts';
import { remoteCommand, type RemoteCommand } from './remote-command.ts';

const GATES = { public: 'public', beta: 'private_beta', closed: 'closed' };
const POLICIES = { ask: 'manual', accept: 'auto_accept', decline: 'auto_decline' };

export const GATE: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'gate show',
    summary: 'Show who may sign in, and how many wait',
    isOfApplication: true,
    async execute({ client, show, application }) {
      const { id, name, signinGate, betaRequestPolicy } = await application();
      const counts = await client.get('/api/applications/{id}/beta-interests/counts', { path: { id } });
      const { approved, pending, declined, notifyWhenPublic } = counts;
      await show.record({ applicationId: id, signinGate, betaRequestPolicy, counts }, () => [
        ['Application', name],
        ['Gate', signinGate],
        ['Requests', betaRequestPolicy],
        ['Allowed', approved],
        ['Waiting', pending],
        ['Declined', declined],
        ['Mailed at the launch', notifyWhenPublic],
      ]);
      if (pending > 0) await show.say('\nNext: gatehouse gate list --status pending, then gatehouse gate allow WHO');
    },
  }),
  operationCommand('setSigninGate', {
    name: 'gate set',
    summary: 'Open or close the sign-in, effective at once',
    operands: [
      {
        field: 'gate',
        name: 'GATE',
        meaning: 'public: everybody; beta: the allowlist; closed: nobody.',
        words: GATES,
      },
    ],
    done: ({ signinGate }, { application }) => `The sign-in gate of ${application?.name} is ${signinGate}.`,
  }),
  operationCommand('setBetaPolicy', {
    name: 'gate requests',
    operands: [
      {
        field: 'policy',
        name: 'HOW',
        meaning: 'ask: you decide; accept or decline: all of them.',
        words: POLICIES,
      },
    ],
    flags: { notify: { field: 'notify', meaning: 'Mail the people it lets in.' } },
    done: ({ policy, decided }) => `Requests: ${policy}; ${decided} decided by it.`,
  }),
  operationCommand('listBetaInterests', {
    name: 'gate list',
    flags: { status: 'status' },
    columns: { 'E-MAIL': { cut: 'email' }, STATUS: 'status', SOURCE: 'source', SINCE: 'createdAt', ID: 'id' },
    empty: 'Nobody. Invite somebody: gatehouse gate invite ADDRESS',
  }),
  operationCommand('addBetaInterests', {
    name: 'gate invite',
    operands: [{ field: 'emails', name: 'ADDRESSES', meaning: 'E-mail addresses, separated by commas.', isList: true }],
    flags: { locale: 'locale' },
    derive: () => ({ status: 'approved' }),
    done: ({ summary: { created, updated, unchanged } }) =>
      `${created} added, ${updated} let in who waited, ${unchanged} there already.`,
  }),
  operationCommand('approveBetaInterest', {
    name: 'gate allow',
    summary: 'Let in somebody who asked',
    flags: { notify: { field: 'notify', value: 'YES/NO' } },
    done: ({ email }) => `${email} may sign in.`,
  }),
  operationCommand('declineBetaInterest', {
    name: 'gate decline',
    summary: 'Turn down somebody who asked',
    flags: { soft: 'soft' },
    done: ({ email }) => `${email} is declined.`,
  }),
  operationCommand('deleteBetaInterest', {
    name: 'gate remove',
    confirm: ({ label }) => [label, 'The row is removed from the allowlist for good.'],
    done: () => 'Removed.',
  }),
];
