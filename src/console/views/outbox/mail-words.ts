/** Texts for mail kinds and states, and reasons why a content is hidden. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';

type Mail = Schemas['OutboxMail'];

export const KIND_WORDS: Readonly<Record<Mail['lane'], string>> = {
  code: 'Code',
  notice: 'Notice',
  bulk: 'To many',
};

interface StateWords {
  readonly tone: Tone;
  readonly title: string;
  readonly meaning: string;
  readonly unreadable: string;
}

export const STATE_WORDS: Readonly<Record<Mail['status'], StateWords>> = {
  queued: {
    tone: 'warn',
    title: 'Waiting',
    meaning: 'It is sent as soon as the mail server takes it.',
    unreadable: 'A mail server is about to have it: what it says is between the sender and the reader.',
  },
  sent: {
    tone: 'good',
    title: 'Sent',
    meaning: 'The mail server has taken it.',
    unreadable: 'The mail server has it, and what it said is not kept here.',
  },
  captured: {
    tone: 'calm',
    title: 'Kept here',
    meaning: 'There is no mail server, so it went no further than this outbox.',
    unreadable:
      'It is for somebody whom another workspace knows as well, or whom none of yours has met yet. A code from it could ' +
      'open what is not yours, so nobody reads it here.',
  },
  failed: {
    tone: 'bad',
    title: 'Failed',
    meaning: 'It was given up.',
    unreadable: 'It was given up, and what it said is not kept.',
  },
};
