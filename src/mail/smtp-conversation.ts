/** Tracks what each SMTP connection waits for, from nodemailer's log of commands and replies. */
import type { Logger } from 'nodemailer/lib/shared/index.js';

/** State of a connection when it failed. */
export interface Moment {
  /** The missing reply, such as `the answer to RCPT TO`. */
  readonly awaited: string;
  /** The last reply, such as `in answer to AUTH PLAIN`. */
  readonly answered: string;
}

const BEFORE_ALL: Moment = { awaited: 'the greeting', answered: 'as the greeting' };
/** Exceeds the open connections; beyond it, the oldest entries are dropped. */
const MAX_CONNECTIONS = 200;

interface Entry {
  readonly tnx?: string;
  /** The connection id. */
  readonly sid?: string;
  readonly err?: unknown;
}

interface Conversation {
  /** Commands without a reply, oldest first. */
  readonly unanswered: string[];
  /** The last reply; null before the greeting. */
  answered: string | null;
}

/** Creates a logger for nodemailer; requires `transactionLog`. Keeps only the verb of a command. */
export function smtpConversations() {
  const conversations = new Map<string, Conversation>();
  const failures = new WeakMap<object, Moment>();

  function conversationOf(sid: string): Conversation {
    const known = conversations.get(sid);
    if (known) return known;
    const [oldest] = conversations.keys();
    if (conversations.size >= MAX_CONNECTIONS && oldest !== undefined) conversations.delete(oldest);
    const conversation: Conversation = { unanswered: [], answered: null };
    conversations.set(sid, conversation);
    return conversation;
  }

  function hear({ tnx, sid, err }: Entry, line: unknown): void {
    if (sid === undefined) return;
    const conversation = conversationOf(sid);
    if (tnx === 'client') conversation.unanswered.push(verbOf(String(line)));
    else if (tnx === 'server') conversation.answered = answered(conversation);
    else if (typeof err === 'object' && err !== null) {
      failures.set(err, momentOf(conversation));
      conversations.delete(sid);
    }
  }

  const log = (entry: unknown, line: unknown) => hear(entry as Entry, line);
  const logger = { level() {}, trace: log, debug: log, info: log, warn: log, error: log, fatal: log };
  return {
    logger: logger as unknown as Logger,
    /** Returns the state of the connection when this error was thrown. */
    momentOf: (error: unknown): Moment =>
      (typeof error === 'object' && error !== null && failures.get(error)) || BEFORE_ALL,
  };
}

function momentOf({ answered, unanswered: [oldest] }: Conversation): Moment {
  if (answered === null) return BEFORE_ALL;
  return { awaited: `the answer to ${oldest ?? 'the message'}`, answered };
}

/** Matches a reply to the oldest unanswered command. */
function answered(conversation: Conversation): string {
  if (conversation.answered === null) return BEFORE_ALL.answered;
  return `in answer to ${conversation.unanswered.shift() ?? 'the message'}`;
}

/** Drops everything after the verb: addresses and secrets. */
function verbOf(command: string): string {
  return /^(MAIL FROM|RCPT TO|AUTH [A-Z0-9-]+|[A-Z]{4,8}\b)/.exec(command)?.[1] ?? 'the log-in';
}
