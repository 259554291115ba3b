/** `gatehouse serve`: runs the product, in normal, dev or ephemeral mode. */
import { isatty } from 'node:tty';
import { type Flags, loadConfig, type Mode } from '../config.ts';
import { accessLog } from '../http/access-log.ts';
import type { LogDestination } from '../log.ts';
import type { RunningServer, ServerOptions } from '../server.ts';
import { SETTINGS } from '../settings.ts';
import type { Mail } from '../store/mails.ts';
import { type Command, UsageError } from './arguments.ts';
import { logFormat } from './pretty-log.ts';
import { printable, printableLines } from './sanitize.ts';
import { watchParent } from './parent-process.ts';

export const serve: Command = {
  name: 'serve',
  group: 'server',
  summary: 'Run the server',
  settings: [
    SETTINGS.dataFolder,
    SETTINGS.databaseUrl,
    SETTINGS.port,
    SETTINGS.host,
    SETTINGS.baseUrl,
    SETTINGS.tlsCert,
    SETTINGS.tlsKey,
    SETTINGS.threads,
    SETTINGS.logFormat,
    SETTINGS.seedFile,
  ],
  takesSettings: true,
  switches: {
    dev: 'Print every mail to the terminal; accept http on loopback for return URLs, webhooks and providers.',
    ephemeral:
      'A throw-away instance for tests: temporary folder or database, free port, one JSON line when ready. It ends with the process that started it.',
    'no-follow-parent': 'Keep an ephemeral instance running after its parent ends or its standard input closes.',
  },
  async run(flags) {
    const mode = modeOf(flags);
    const starter = mode === 'ephemeral' && !flags['no-follow-parent'] ? watchParent() : null;
    const config = loadConfig(process.env, { mode, flags });
    // Loads the server lazily, so that other commands start without it.
    const { createLog, logDestination } = await import('../log.ts');
    const descriptor = config.mode === 'ephemeral' ? 2 : 1;
    const destination = logDestination(descriptor, logFormat(config, descriptor, process.env));
    const log = createLog(config.logLevel, destination);
    const writeLines = log.isLevelEnabled('info') ? destination.write : null;
    const seed = config.seedFile === null ? null : await (await import('./serve-seed.ts')).seedAtStart(config.seedFile);
    const options: ServerOptions = {
      log,
      accessLog: accessLog(writeLines),
      writeLines,
      prepare: seed && seed.prepare,
    };
    const flushLog = () => destination.flush();
    if (config.mode === 'ephemeral') {
      const { startEphemeral } = await import('./ephemeral.ts');
      const { server, ready } = await startEphemeral(config, options);
      for (const line of seed?.said ?? []) log.info(line.trim());
      const stop = stopOnSignals(server, flushLog);
      process.stdout.write(`${JSON.stringify(ready)}\n`);
      starter?.onEnd((how) => {
        log.info(
          { how },
          'stopping: the parent process of this ephemeral instance has ended (--no-follow-parent keeps it)',
        );
        void stop();
      });
      return;
    }
    const { startServer } = await import('../server.ts');
    const server = await startServer(config, {
      ...options,
      ...(config.mode === 'dev' && { onCapture: mailPrinter(destination) }),
    });
    const { announceStart, announceStopping, announceStopped, startOutputOf } = await import('./start-output.ts');
    const output = startOutputOf(config, descriptor, destination.write);
    // Log records obey the log level; plain lines are always printed.
    const isSaid = output.isForPeople || log.isLevelEnabled('info');
    stopOnSignals(server, flushLog, {
      onStopping: () => isSaid && announceStopping(server.pending(), output),
      onStopped: () => isSaid && announceStopped(output),
    });
    const { renewCertificate } = server;
    // Under a supervisor SIGHUP without a certificate must not end the process; on a terminal it does.
    if (renewCertificate || !isatty(0))
      process.on('SIGHUP', renewCertificate ?? (() => log.info('SIGHUP: no certificate to reload')));
    await announceStart(server, config, seed?.said ?? [], output);
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

function mailPrinter(terminal: LogDestination) {
  return ({ recipient, subject, text }: Mail) => {
    terminal.write(`── mail to ${printable(recipient)}: ${printable(subject)}\n${printableLines(text ?? '')}\n──\n`);
    void terminal.flush();
  };
}

/** Stops gracefully on the first signal, at once on the second. @returns a function that stops gracefully, once. */
function stopOnSignals(
  server: RunningServer,
  flushLog: () => Promise<void>,
  { onStopping, onStopped }: { onStopping?: () => void; onStopped?: () => void } = {},
): () => Promise<void> {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    onStopping?.();
    void flushLog();
    await server.stop();
    onStopped?.();
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
