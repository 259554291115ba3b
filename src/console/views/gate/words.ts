/** Texts for allowlist states and decisions. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';
import { counted } from '../../components/format.ts';

export type WaitlistEntry = Schemas['BetaInterest'];
export type Decision = Schemas['BetaDecision'] | 'remove';

export const BETA_STATUSES: Readonly<Record<WaitlistEntry['status'], { readonly title: string; readonly tone: Tone }>> =
  {
    pending: { title: 'Pending', tone: 'warn' },
    approved: { title: 'Approved', tone: 'good' },
    notify_when_public: { title: 'To be notified', tone: 'calm' },
    declined: { title: 'Refused', tone: 'bad' },
  };

export const SOURCES: Readonly<Record<string, string>> = {
  admin_add: 'Added here',
  request: 'Requested access',
  notify: 'Asked to be notified',
};

interface DecisionWords {
  readonly verb: string;
  readonly past: string;
  readonly lead: (many: number) => string;
}

const they = (many: number, one: string, more: string) => (many === 1 ? one : more);

export const DECISIONS: Readonly<Record<Decision, DecisionWords>> = {
  approve: {
    verb: 'Approve',
    past: 'approved',
    lead: (many) =>
      `${they(many, 'This person', 'They')} can sign in from now on. People who asked to be notified get a mail; others do not.`,
  },
  soft_decline: {
    verb: 'Decline',
    past: 'declined',
    lead: (many) =>
      `${they(many, 'This person is', 'They are')} told by mail that it is too early, and notified when you open.`,
  },
  decline: {
    verb: 'Refuse without a word',
    past: 'refused',
    lead: (many) =>
      `${they(many, 'This person cannot', 'They cannot')} sign in while this is a private beta, and ${they(many, 'is', 'are')} not mailed, now or when you open. You can still approve ${they(many, 'them', 'any of them')} later.`,
  },
  remove: {
    verb: 'Remove',
    past: 'removed',
    lead: (many) =>
      `${they(many, 'The address is', 'The addresses are')} taken off the list. ${they(many, 'It is', 'They are')} not mailed, and can request access again. This cannot be undone.`,
  },
};

/** Returns "ada@example.com" or "3 addresses". */
export function whom(entries: readonly WaitlistEntry[]): string {
  const [first] = entries;
  return entries.length === 1 && first ? first.email : counted(entries.length, 'address', 'addresses');
}
