/**
 * Other users of the machine: what they could change or read in the data folder, and that no server starts on an
 * exposed one.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openData } from '@/dependencies.ts';
import { StartupError } from '@/core/startup-error.ts';
import { emptyFolder } from '../support/binary.ts';

let scratch: ReturnType<typeof emptyFolder>;
let folder: string;
beforeEach(() => {
  scratch = emptyFolder();
  folder = join(scratch.path, 'data');
});
afterEach(() => scratch.remove());

/** Opens the folder as a server does and closes it. @returns the reason for a refusal. */
async function start(path = folder): Promise<string | null> {
  try {
    const data = await openData(path, { isDurable: false });
    await data.close();
    return null;
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  }
}

/** Runs the command at the end of a refusal, as the operator is instructed. */
function runAdvisedCommand(refusal: string | null): void {
  const command = /Run: (chmod .+)$/.exec(refusal ?? '')?.[1];
  expect(command).toBeString();
  expect(Bun.spawnSync(['sh', '-c', command!]).exitCode).toBe(0);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('a data folder', () => {
  test.each([0o777, 0o757, 0o775, 0o770, 0o1777, 0o722])(
    'a folder of mode %o is refused until the named command was run',
    async (mode) => {
      mkdirSync(folder);
      chmodSync(folder, mode);
      const refusal = await start();
      expect(refusal).toBe(`Other users can write to the data folder ${folder}. Run: chmod go-w ${folder}`);
      expect(readdirSync(folder)).toEqual([]);
      runAdvisedCommand(refusal);
      expect(await start()).toBeNull();
    },
  );

  test.each([0o755, 0o750, 0o711, 0o700])(
    'a folder of mode %o is accepted, as container volumes have it',
    async (mode) => {
      mkdirSync(folder);
      chmodSync(folder, mode);
      expect([await start(), await start(), modeOf(folder)]).toEqual([null, null, mode]);
    },
  );

  test('a folder with special characters in its name is quoted in the command', async () => {
    const odd = join(scratch.path, "it's $HOME; data");
    mkdirSync(odd);
    chmodSync(odd, 0o777);
    runAdvisedCommand(await start(odd));
    expect([modeOf(odd), await start(odd)]).toEqual([0o755, null]);
  });
});

/** Covers a container that runs as an arbitrary user and accesses its volume through a group. */
describe.skipIf(process.getuid?.() !== 0)('a data folder of root that the process accesses through its group', () => {
  const [USER, GROUP, OTHER_GROUP] = [64_001, 64_002, 64_003];

  /** @returns the refusal of the start; empty if it succeeded. */
  function startAs(groups: number): string {
    const open = `import { openDataFolder } from '${join(import.meta.dir, '../../src/db/sqlite/data-folder.ts')}';
      import { writeFileSync } from 'node:fs';
      try { const { instanceKeyPath } = openDataFolder('${folder}'); writeFileSync(instanceKeyPath, 'x', { flag: 'a' }); }
      catch ({ message }) { console.log(message); }`;
    const as = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, `--groups=${groups}`, '--'];
    const { stdout, stderr } = Bun.spawnSync([...as, process.execPath, '-e', open], { env: { HOME: scratch.path } });
    return `${stdout}${stderr}`.trim();
  }

  const give = (mode: number, owner = 0, group = GROUP) => {
    chmodSync(scratch.path, 0o755);
    mkdirSync(folder);
    chownSync(folder, owner, group);
    chmodSync(folder, mode);
  };

  test.each([0o770, 0o2770, 0o3770, 0o2775 & ~0o005])('is accepted with mode %o at every start', (mode) => {
    give(mode);
    expect(startAs(GROUP)).toBe('');
    // Some volumes reset the group of their files at each mount.
    chmodSync(join(folder, 'instance.key'), 0o660);
    chownSync(join(folder, 'instance.key'), USER, GROUP);
    expect(startAs(GROUP)).toBe('');
    chmodSync(join(folder, 'instance.key'), 0o664);
    expect(startAs(GROUP)).toContain('Other users can read or change');
    chmodSync(join(folder, 'instance.key'), 0o660);
    chownSync(join(folder, 'instance.key'), USER, OTHER_GROUP);
    expect(startAs(GROUP)).toContain('Other users can read or change');
  });

  test.each([
    ['others have any right', 0o775, 0, GROUP, GROUP],
    ['others may enter it', 0o771, 0, GROUP, GROUP],
    ['the process owns it', 0o770, USER, GROUP, GROUP],
    ['another user owns it', 0o770, 64_009, GROUP, GROUP],
  ])('is refused if %s', (_, mode, owner, group, groups) => {
    give(mode, owner, group);
    expect(startAs(groups)).toContain('Other users can write to the data folder');
  });

  test('is inaccessible to a process in another group', () => {
    give(0o770);
    expect(startAs(OTHER_GROUP)).toContain('cannot be read and written by this user');
  });
});

describe('a file that others may read or change', () => {
  const CASES = ['instance.key', 'gatehouse.db'].flatMap((name) =>
    [0o644, 0o640, 0o604, 0o620, 0o602, 0o666].map((mode) => [name, mode] as const),
  );

  test.each(CASES)('%s of mode %o is refused until the named command was run', async (name, mode) => {
    expect(await start()).toBeNull();
    const path = join(folder, name);
    chmodSync(path, mode);
    const before = statSync(path).mtimeMs;
    const refusal = await start();
    expect(refusal).toBe(`Other users can read or change ${path}. Run: chmod 600 ${path}`);
    expect(statSync(path).mtimeMs).toBe(before);
    runAdvisedCommand(refusal);
    expect(await start()).toBeNull();
  });

  test('is refused as a backup copy too; all such files are named at once, and unrelated files are ignored', async () => {
    expect(await start()).toBeNull();
    const copy = join(folder, 'gatehouse.db.schema-1');
    for (const name of ['gatehouse.db.schema-1', 'notes.txt']) {
      writeFileSync(join(folder, name), '');
      chmodSync(join(folder, name), 0o644);
    }
    chmodSync(join(folder, 'instance.key'), 0o644);
    const refusal = await start();
    expect(refusal).toContain(copy);
    expect(refusal).toContain('instance.key');
    expect(refusal).not.toContain('notes.txt');
    runAdvisedCommand(refusal);
    expect(await start()).toBeNull();
  });

  test('also stops a command that runs alongside the server', async () => {
    expect(await start()).toBeNull();
    chmodSync(join(folder, 'gatehouse.db'), 0o644);
    await expect(openData(folder, { isServer: false, isDurable: false })).rejects.toThrow('chmod 600');
  });
});
