/** Texts for mail kinds and states, and reasons why a content is hidden. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';

type Mail = Schemas['OutboxMail'];

export const KIND_WORDS: Readonly<Record<Mail['lane'], string>> = {
  code: 'Code',
  notice: 'Notice',
  bulk: 'Bulk',
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
    meaning: 'It is sent as soon as the mail server accepts it.',
    unreadable: 'It is about to be sent, and its contents are for its recipient only.',
  },
  sent: {
    tone: 'good',
    title: 'Sent',
    meaning: 'The mail server has accepted it.',
    unreadable: 'The mail server has it, and its contents are not kept here.',
  },
  captured: {
    tone: 'calm',
    title: 'In the outbox',
    meaning: 'There is no mail server, so it stays in this outbox.',
    unreadable:
      'It is for somebody who also belongs to another workspace, or to none of yours yet. A code in it could give ' +
      'access beyond this workspace, so it cannot be read here.',
  },
  failed: {
    tone: 'bad',
    title: 'Failed',
    meaning: 'Sending was given up.',
    unreadable: 'Sending was given up, and its contents are not kept.',
  },
};
