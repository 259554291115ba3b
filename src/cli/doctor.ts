/** `gatehouse doctor`: checks settings, servers, their data, base URL and mail, and suggests fixes. */
import { normalizeEmail } from '../core/email.ts';
import { SETTINGS } from '../settings.ts';
import { VERSION } from '../version.ts';
import { type Command, UsageError } from './arguments.ts';
import { isColoured } from './colour.ts';
import { jsonText } from './sanitize.ts';
import { progressLine } from './progress-line.ts';

export const doctor: Command = {
  name: 'doctor',
  group: 'data',
  summary: 'Find problems and suggest fixes, with or without a running server',
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl],
  options: {
    'send-to': { value: 'ADDR', meaning: 'Send a test mail to this address, and print the mail server’s answer.' },
  },
  switches: {
    full: 'Check the whole database of a data folder and its indexes, without a time limit.',
    json: 'A list of findings: check, status (ok, warn, fail), message, remedy.',
  },
  next: [
    'It changes nothing. Run it as the server’s user and with its environment, which',
    'it needs to test the mail server. Exit code 1 if a check fails.',
  ],
  async run(flags) {
    const sendTo = addressee(flags['send-to']);
    const { runChecks } = await import('./doctor/run-checks.ts');
    const { report } = await import('./doctor/report.ts');
    const { doctorContext } = await import('./doctor/context.ts');
    const context = doctorContext({ environment: process.env, flags, now: Date.now });
    const line = progressLine();
    const step = (what: string) => line.show(what, 0);
    const findings = await runChecks(context, { sendTo, isFull: flags['full'] === true, step }).finally(line.end);
    const isTerminal = process.stdout.isTTY === true;
    process.stdout.write(
      flags['json'] === true
        ? `${jsonText(findings, 2)}\n`
        : report(`Gatehouse ${VERSION}, ${context.config.database?.address.shown ?? context.folder}`, findings, {
            isTerminal,
            isColoured: isColoured(isTerminal, process.env),
          }),
    );
    return findings.some(({ status }) => status === 'fail') ? 1 : 0;
  },
};

function addressee(given: string | boolean | undefined): string | null {
  if (typeof given !== 'string') return null;
  const email = normalizeEmail(given);
  if (email === null) throw new UsageError('--send-to: give an e-mail address, such as ada@example.com.');
  return email;
}
