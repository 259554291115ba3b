/** `gatehouse serve`: runs the product, in normal, dev or ephemeral mode. */
import { type Config, type Flags, loadConfig, type Mode } from '../config.ts';
import { accessLog } from '../http/access-log.ts';
import { createLog, type LogDestination, logDestination } from '../log.ts';
import { type RunningServer, type ServerOptions, startServer } from '../server.ts';
import { SETTINGS } from '../settings.ts';
import type { Mail } from '../store/mails.ts';
import { type Command, UsageError } from './arguments.ts';
import { startEphemeral } from './ephemeral.ts';
import { watchStarter } from './starter.ts';

export const serve: Command = {
  name: 'serve',
  group: 'server',
  summary: 'Run the server',
  settings: [SETTINGS.dataFolder, SETTINGS.port, SETTINGS.host, SETTINGS.baseUrl],
  takesSettings: true,
  switches: {
    dev: 'Print every mail to the terminal; take http on loopback for return URLs, webhooks and providers.',
    ephemeral:
      'A throw-away instance for tests: temporary folder, free port, one JSON line when ready. It ends with the process that started it.',
    'no-follow-parent': 'Let an ephemeral instance go on when that ends, or its standard input is closed.',
  },
  async run(flags) {
    const mode = modeOf(flags);
    const starter = mode === 'ephemeral' && !flags['no-follow-parent'] ? watchStarter() : null;
    const config = loadConfig(process.env, { mode, flags });
    const destination = logDestination(config.mode === 'ephemeral' ? 2 : 1);
    const log = createLog(config.logLevel, destination);
    const writeLine = log.isLevelEnabled('info') ? (line: string) => void destination.write(line) : null;
    const options: ServerOptions = { log, accessLog: accessLog(writeLine) };
    const flushLog = () => destination.flush();
    if (config.mode === 'ephemeral') {
      const { server, ready } = await startEphemeral(config, options);
      const stop = stopOnSignals(server, flushLog);
      process.stdout.write(`${JSON.stringify(ready)}\n`);
      starter?.onEnd((how) => {
        log.info({ how }, 'nobody is left to use this ephemeral instance: it stops (--no-follow-parent keeps one)');
        void stop();
      });
      return;
    }
    const server = await startServer(config, {
      ...options,
      ...(config.mode === 'dev' && { onCapture: mailPrinter(destination) }),
    });
    stopOnSignals(server, flushLog);
    await announce(server, config, destination.write);
    await destination.flush();
  },
};

function modeOf(flags: Flags): Mode {
  if (flags['dev'] && flags['ephemeral']) throw new UsageError('--dev and --ephemeral exclude each other; give one.');
  if (flags['ephemeral'] && flags['data'])
    throw new UsageError('--ephemeral uses a temporary folder of its own; leave --data out.');
  if (flags['no-follow-parent'] && !flags['ephemeral'])
    throw new UsageError('--no-follow-parent is for --ephemeral: no other server follows its parent. Leave it out.');
  return flags['ephemeral'] ? 'ephemeral' : flags['dev'] ? 'dev' : 'normal';
}

async function announce(
  { url, services, upgradeCopy }: RunningServer,
  config: Config,
  tell: (text: string) => void,
): Promise<void> {
  const lines = [`Gatehouse is running at ${url}`];
  if (upgradeCopy) lines.push(`The database was upgraded; a copy from before is at ${upgradeCopy}`);
  if (!(await services.workspaces.hasOwner()))
    lines.push(
      '',
      'Nobody owns it yet. Open this link to become its owner (24 hours, once):',
      `  ${url}/setup?token=${await services.setup.createLink()}`,
    );
  if (config.smtpUrl === null)
    lines.push(
      '',
      config.mode === 'dev'
        ? 'Mail is not sent: it is kept in the embedded outbox and printed here.'
        : 'No mail server is set (GATEHOUSE_SMTP_URL): mail is kept in the embedded outbox and not sent.',
    );
  tell(`${lines.join('\n')}\n\n`);
}

function mailPrinter(terminal: LogDestination) {
  return ({ recipient, subject, text }: Mail) => {
    terminal.write(`── mail to ${recipient}: ${subject}\n${text}\n──\n`);
    void terminal.flush();
  };
}

/**
 * The first signal stops gracefully, the second at once.
 *
 * @returns stops gracefully as well, and does nothing where that has begun.
 */
function stopOnSignals(server: RunningServer, flushLog: () => Promise<void>): () => Promise<void> {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await server.stop();
    await flushLog();
    process.exit(0);
  };
  const onSignal = () => {
    if (isStopping) process.exit(1);
    void stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return stop;
}
