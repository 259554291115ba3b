/** `gatehouse outbox`: shows sent mails to people with shell access to the server, for instances without SMTP. */
import { loadConfig } from '../config.ts';
import { normalizeEmail } from '../core/email.ts';
import { SETTINGS } from '../settings.ts';
import { type Command, UsageError } from './arguments.ts';

const USUAL_LIMIT = 20;
const MOST = 1000;

const JSON_SWITCH = { json: 'As JSON.' };

const outboxList: Command = {
  name: 'outbox list',
  group: 'data',
  summary: 'List the latest mails, newest first, without their text',
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl],
  options: {
    to: { value: 'ADDR', meaning: 'Only mails to this address.' },
    limit: { value: 'N', meaning: `Rows to list, at most ${MOST}. Default: ${USUAL_LIMIT}.` },
  },
  switches: JSON_SWITCH,
  next: ['To read one, with its code: gatehouse outbox show ID'],
  async run(flags) {
    const to = typeof flags['to'] === 'string' ? addressOf(flags['to']) : undefined;
    const limit = limitOf(flags['limit']);
    const config = loadConfig(process.env, { flags });
    const { mailList } = await import('./outbox-mails.ts');
    process.stdout.write(await mailList(config, { to, limit, isJson: flags['json'] === true }));
    return 0;
  },
};

const outboxShow: Command = {
  name: 'outbox show',
  group: 'data',
  summary: 'Show a mail with its text; the activity records that it was read',
  operands: [{ name: 'ID', meaning: 'Id from "gatehouse outbox list".' }],
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl],
  switches: JSON_SWITCH,
  next: ['Reading a code allows signing in as its recipient: activity shows mail.read.'],
  async run(flags, [id = '']) {
    const config = loadConfig(process.env, { flags });
    const { mailText } = await import('./outbox-mails.ts');
    const { text, isOnRecord } = await mailText(config, id, flags['json'] === true);
    process.stdout.write(text);
    if (isOnRecord) process.stderr.write('The activity records that you read it (mail.read).\n');
    return 0;
  },
};

export const OUTBOX: readonly Command[] = [outboxList, outboxShow];

function addressOf(text: string): string {
  const email = normalizeEmail(text);
  if (email === null) throw new UsageError('--to: give an e-mail address, such as ada@example.com.');
  return email;
}

function limitOf(given: string | boolean | undefined): number {
  if (given === undefined) return USUAL_LIMIT;
  const limit = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : NaN;
  if (!(limit >= 1 && limit <= MOST)) throw new UsageError(`--limit: give a whole number from 1 to ${MOST}.`);
  return limit;
}
