/** `gatehouse apply`: brings a server to the state a file describes; plans every part before changing anything. */
import { ApiError } from '../../client/errors.ts';
import type { DataAt, GivenAt } from '../../client/paths.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { SeedFile } from '../seed-file.ts';
import type { Part } from './apply-parts.ts';
import { type RemoteCall, remoteCommand } from './remote-command.ts';

type Body = GivenAt<'/api/workspace/apply', 'post'>[0]['body'];
type Result = DataAt<'/api/workspace/apply', 'post'>;
type Change = Result['changes'][number];

const MAX_SHOWN = 20;

export const apply = remoteCommand({
  name: 'apply',
  summary: 'Apply a configuration file: apps, roles, users and more',
  operands: [{ name: 'FILE', meaning: 'JSON file; its schema: gatehouse print schema.' }],
  options: { workspace: { value: 'ID', meaning: 'Workspace, for members of several.' } },
  switches: { 'dry-run': 'Only print what would change.' },
  next: [
    'Nothing is ever removed, and omitted fields keep their values; applying again',
    'changes nothing. Secrets come from the environment: {"env": "SHOP_KEY"}.',
    '',
    'Example, shop.json:',
    '  { "applications": [{ "slug": "shop", "name": "Shop", "stage": "live",',
    '      "roles": [{ "slug": "buyer", "isDefault": true }, { "slug": "editor" }],',
    '      "apiKeys": [{ "name": "backend", "access": "read",',
    '                    "token": { "env": "SHOP_KEY" } }],',
    '      "users": [{ "email": "ada@example.com", "roles": ["editor"] }] }] }',
    '',
    '  export SHOP_KEY=$(gatehouse key)',
    '  gatehouse apply shop.json --dry-run',
    '',
    'Next: gatehouse export',
  ],
  async execute(call) {
    const { operands, terminal, isOn, show } = call;
    const [file = ''] = operands;
    // Loads the schemas lazily, so that other commands start without them.
    const [{ readSeedFile, problemLines }, { applyPartsOf }] = await Promise.all([
      import('../seed-file.ts'),
      import('./apply-parts.ts'),
    ]);
    const seed = await readSeedFile(file, terminal.env);
    const applier = await applierFor(call, seed);
    const parts = applyPartsOf(seed.document, applier.isSplit);
    const ask = async (part: Part, dryRun: boolean) => {
      try {
        return resultOfPart(part, await applier.send(part, dryRun));
      } catch (error) {
        if (!(error instanceof ApiError) || error.fields.length === 0) throw error;
        const fields = error.fields.map(({ path, message }) => ({ path: inFile(part, path), message }));
        throw new StartupError(problemLines(file, fields));
      }
    };
    const progress = progressOf(call, parts);
    const planned: Result[] = [];
    for (const part of parts) planned.push(await progress('planned', part, ask(part, true)));
    const isDryRun = isOn('dry-run');
    const done: Result[] = [];
    for (const [index, part] of parts.entries()) {
      const plan = planned[index];
      const hasChanges = plan !== undefined && plan.changes.length > 0;
      if (plan && (isDryRun || !hasChanges)) done.push(plan);
      else done.push(await progress('applied', part, ask(part, false)));
    }
    const result = merged(done);
    if (show.isJson) await show.json({ dryRun: isDryRun, ...result });
    else await tell(call, result, isDryRun);
    return result.skipped.length > 0 ? 1 : 0;
  },
});

interface Applier {
  readonly isSplit: boolean;
  send(part: Part, dryRun: boolean): Promise<Result>;
}

/** Applies through the workspace where the key has access to it, otherwise per application. @throws {StartupError} */
async function applierFor({ client, text }: RemoteCall, { document, secrets }: SeedFile): Promise<Applier> {
  const { namesOfSecrets } = await import('../../modules/seed/check.ts');
  const secretsOf = (part: Part) =>
    Object.fromEntries(namesOfSecrets(part.document).map((name) => [name, secrets(name) ?? '']));
  const workspaces = await client.get('/api/workspaces');
  const workspaceId = text('workspace');
  if (workspaces.items.length > 0 || workspaceId !== undefined)
    return {
      isSplit: false,
      send: (part, dryRun) =>
        client.post('/api/workspace/apply', {
          query: { ...(workspaceId !== undefined && { workspaceId }) },
          body: { document: part.document as Body['document'], secrets: secretsOf(part), dryRun },
        }),
    };
  if (document.apiKeys?.length)
    throw new StartupError(
      'Keys of the workspace ("apiKeys") need a key of the whole workspace; this one reaches less.',
    );
  const ids = new Map<string, string>();
  for await (const { slug, id } of client.all('/api/applications')) ids.set(slug, id);
  for (const [at, { slug }] of (document.applications ?? []).entries())
    if (!ids.has(slug))
      throw new StartupError(
        `applications.${at}: there is no application "${slug}" within reach, and this key can make none: ` +
          'use a key of the workspace.',
      );
  return {
    isSplit: true,
    send(part, dryRun) {
      const [application] = part.document.applications ?? [];
      const path = { id: ids.get(application?.slug ?? '') ?? '' };
      const body = { application, secrets: secretsOf(part), dryRun };
      type Given = GivenAt<'/api/applications/{id}/apply', 'post'>[0];
      return client.post('/api/applications/{id}/apply', { path, body: body as Given['body'] });
    },
  };
}

function resultOfPart(part: Part, result: Result): Result {
  const changes = result.changes.filter((change) => part.isOf(change));
  const { things } = part;
  const unchanged = things === null ? result.unchanged : things - changes.length - result.skipped.length;
  const notes = result.notes.map(({ path, message }) => ({ path: inFile(part, path), message }));
  return { ...result, changes, unchanged, notes };
}

function inFile(part: Part, path: string): string {
  return part.inFile(path.replace(/^document\./, '').replace(/^application(?=\.|$)/, 'applications.0'));
}

function merged(results: readonly Result[]): Result {
  return {
    changes: results.flatMap(({ changes }) => changes),
    unchanged: results.reduce((sum, { unchanged }) => sum + unchanged, 0),
    notes: results.flatMap(({ notes }) => notes),
    skipped: results.flatMap(({ skipped }) => skipped),
    signingSecrets: results.flatMap(({ signingSecrets }) => signingSecrets),
  };
}

function progressOf({ terminal }: RemoteCall, parts: readonly Part[]) {
  const whole = parts.reduce((sum, { people }) => sum + people, 0);
  const counts = new Map<string, number>();
  return async (word: string, { people }: Part, work: Promise<Result>): Promise<Result> => {
    const result = await work;
    const count = (counts.get(word) ?? 0) + people;
    counts.set(word, count);
    if (parts.length > 1) terminal.progress(count === whole ? null : `${word}: ${count} of ${whole} people`);
    return result;
  };
}

async function tell({ show, terminal }: RemoteCall, result: Result, isDryRun: boolean): Promise<void> {
  const { changes, unchanged, notes, skipped, signingSecrets } = result;
  const isOne =
    new Set(changes.flatMap(({ kind, application, name }) => (kind === 'application' ? name : (application ?? []))))
      .size <= 1;
  for (const [, group] of Map.groupBy(changes, ({ action, kind, application }) => `${action} ${kind} ${application}`)) {
    const [first] = group;
    if (first && isCounted(first) && group.length > MAX_SHOWN)
      await show.say(`${signOf(first)} ${group.length} ${PLURALS[first.kind]}${within(first, isOne)}`);
    else for (const change of group) await show.say(line(change, isOne));
  }
  if (unchanged > 0) await show.say(`= ${unchanged} unchanged`);
  for (const { path, message } of notes) terminal.err(`! ${path}: ${message}\n`);
  for (const { email, error } of skipped.slice(0, MAX_SHOWN)) terminal.err(`! user ${email}: not added, ${error}\n`);
  if (skipped.length > MAX_SHOWN) terminal.err(`! …and ${skipped.length - MAX_SHOWN} more; --json has all.\n`);
  for (const { url, signingSecret } of signingSecrets)
    await show.say(`Signing secret of ${url}, shown this once: ${signingSecret}`);
  if (changes.length === 0) await show.say('The server already matches the file.');
  else if (isDryRun) await show.say(`Nothing was changed: ${changes.length} would be.`);
}

const PLURALS: Partial<Record<string, string>> = { user: 'users', allowlist: 'on the allowlist' };
const isCounted = ({ kind }: Change) => kind in PLURALS;
const signOf = ({ action }: Change) => (action === 'create' ? '+' : '~');
const within = ({ application }: Change, isOne: boolean) => (isOne || application === null ? '' : ` (${application})`);

function line(change: Change, isOne: boolean): string {
  const fields = change.fields.map(({ field, from, to }) =>
    from === null || to === null ? field : `${field} ${from} → ${to}`,
  );
  const shown = fields.length > 0 ? `: ${fields.join(', ')}` : '';
  return `${signOf(change)} ${change.kind} ${change.name}${within(change, isOne)}${shown}`;
}
