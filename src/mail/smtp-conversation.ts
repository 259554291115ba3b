/** What each connection to the mail server waits for, read from what nodemailer says of its commands and replies. */
import type { Logger } from 'nodemailer/lib/shared/index.js';

/** Where a connection was when it failed. */
export interface Moment {
  /** What had not come, such as `the answer to RCPT TO`. */
  readonly awaited: string;
  /** What the last reply was, such as `in answer to AUTH PLAIN`. */
  readonly answered: string;
}

const BEFORE_ALL: Moment = { awaited: 'the greeting', answered: 'as the greeting' };
/** More connections than are ever open; what is left behind of closed ones goes then. */
const MAX_CONNECTIONS = 200;

/** A line of nodemailer's log. */
interface Entry {
  readonly tnx?: string;
  /** The connection. */
  readonly sid?: string;
  readonly err?: unknown;
}

interface Conversation {
  /** The commands that have no reply yet, oldest first. */
  readonly unanswered: string[];
  /** What the last reply was; null before the greeting. */
  answered: string | null;
}

/** To be given to nodemailer as its logger, with `transactionLog`. Of a command only its verb is kept. */
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
    /** Where its connection was when this was thrown. */
    momentOf: (error: unknown): Moment =>
      (typeof error === 'object' && error !== null && failures.get(error)) || BEFORE_ALL,
  };
}

function momentOf({ answered, unanswered: [oldest] }: Conversation): Moment {
  if (answered === null) return BEFORE_ALL;
  return { awaited: `the answer to ${oldest ?? 'the message'}`, answered };
}

/** Takes the command that a reply belongs to. */
function answered(conversation: Conversation): string {
  if (conversation.answered === null) return BEFORE_ALL.answered;
  return `in answer to ${conversation.unanswered.shift() ?? 'the message'}`;
}

/** The rest is an address, or a secret. */
function verbOf(command: string): string {
  return /^(MAIL FROM|RCPT TO|AUTH [A-Z0-9-]+|[A-Z]{4,8}\b)/.exec(command)?.[1] ?? 'the log-in';
}
