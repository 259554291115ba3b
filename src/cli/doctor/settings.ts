/** Checks the settings, the version and the server process. */
import { counted, lasting } from '../../core/quantities.ts';
import { SETTINGS } from '../../settings.ts';
import { VERSION } from '../../version.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ServerAnswer, DoctorContext } from './context.ts';

/** Settings that vary by where a command runs and say nothing about the server. */
const OF_COMMANDS: readonly string[] = [SETTINGS.dataFolder.env, SETTINGS.port.env, SETTINGS.host.env];

export function settingsFindings({ config, problems, note }: DoctorContext): Finding[] {
  const { ok, warn, fail } = findingsOf('settings');
  const wrong = problems.flatMap((problem) => {
    const [, name = '', rest = problem] = /^(GATEHOUSE_\w+[^:]*): ([^]*)$/.exec(problem) ?? [];
    const remedy = rest.charAt(0).toUpperCase() + rest.slice(1);
    return fail(
      rest.startsWith('there is no such setting') ? `${name} is not known.` : `${name} cannot be used.`,
      remedy,
    );
  });
  const here = config.shown.filter(({ isDefault }) => !isDefault);
  if (wrong.length > 0) return wrong;
  if (note === null)
    return ok(here.length === 0 ? 'No setting is given.' : `${counted(here.length, 'setting')} given, all valid.`);
  const changed = here.filter(({ name, value }) => !OF_COMMANDS.includes(name) && note.settings[name] !== value);
  const given = Object.keys(note.settings).length;
  if (changed.length === 0)
    return ok(
      given === 0
        ? 'No setting is given to the running server.'
        : `${counted(given, 'setting')} given to the running server.`,
    );
  return warn(
    `The running server has other values, or none, for ${changed.map(({ name }) => name).join(', ')}.`,
    'Restart it to apply them; these checks use its own values.',
  );
}

/** @param local answer of the server on this machine. */
export function serverFindings({ server, note, folder, now }: DoctorContext, local: ServerAnswer | null): Finding[] {
  const { ok, warn, fail } = findingsOf('server');
  if (server === null)
    return warn(
      `No server runs on ${folder}.`,
      'Start it: gatehouse serve. Checks that need a running server are skipped.',
    );
  if (note === null)
    return warn(
      `A server uses ${folder} but describes itself nowhere: it is starting, or an earlier version.`,
      'Try again in a minute; if this persists, restart it with this binary.',
    );
  const { pid, version, startedAt, localUrl } = note;
  const who = `Version ${version}, process ${pid}, up for ${lasting(now() - startedAt)}`;
  const findings: Finding[] = [];
  if (local === null || local.facts === null)
    findings.push(
      ...fail(
        `${who}, does not answer at ${localUrl}${local?.error ? ` (${local.error.message})` : ''}.`,
        'Check its log; restart it if it hangs.',
      ),
    );
  else if (!local.facts.isWritable)
    findings.push(
      ...fail(
        `${who}, refuses changes: the disk fails, or the database was deleted or replaced.`,
        'Check the disk and the log; if the file is gone, stop the server, put it back and start again.',
      ),
    );
  else findings.push(...ok(`${who}, answers at ${localUrl}.`));
  if (version !== VERSION)
    findings.push(
      ...warn(
        `This binary is version ${VERSION}, the running server ${version}.`,
        'Restart the server to upgrade it, or use its own binary for commands.',
      ),
    );
  return findings;
}
