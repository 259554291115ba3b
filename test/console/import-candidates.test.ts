import { describe, expect, test } from 'bun:test';
import { csvOf } from '@/core/csv.ts';
import { exportedColumns } from '@/core/user-columns.ts';
import { candidatesOf } from '@/console/views/import/candidates.ts';
import { guessMapping } from '@/console/views/import/fields.ts';
import { readTable, UnreadableFile } from '@/console/views/import/read-table.ts';

async function read(name: string, content: BlobPart) {
  const table = await readTable(new File([content], name));
  const mapping = guessMapping(table);
  return { table, mapping, ...candidatesOf(table, mapping) };
}

describe('a file', () => {
  test.each([
    ['comma', 'email,name\nada@example.com,Ada'],
    ['semicolon', 'E-Mail;Full name\nada@example.com;Ada'],
    ['tab', 'Mail\tName\nada@example.com\tAda'],
    ['byte order mark', '\uFEFF"email","name"\r\n"ada@example.com","Ada"\r\n'],
  ])('is read with %s', async (_, text) => {
    expect((await read('users.csv', text)).all).toEqual([
      {
        line: 2,
        email: 'ada@example.com',
        row: { email: 'ada@example.com', profile: { fullName: 'Ada' } },
        problem: null,
      },
    ]);
  });

  test('a file without a header row is read from its first row on', async () => {
    const { all, mapping } = await read('users.csv', 'ada@example.com,x\nbea@example.com,y');
    expect(mapping).toEqual(['email', null]);
    expect(all.map(({ line, email }) => [line, email])).toEqual([
      [1, 'ada@example.com'],
      [2, 'bea@example.com'],
    ]);
  });

  test('a file in Windows-1252 keeps its accents, with a note', async () => {
    const bytes = new Uint8Array([...'email,name\na@b.example,Ren'].map((one) => one.charCodeAt(0)).concat(0xe9));
    const { table, all } = await read('users.csv', bytes);
    expect(all[0]?.row.profile?.fullName).toBe('René');
    expect(table.note).toMatch(/Windows-1252/);
  });

  test('a file of another system is read from JSON, including nested fields', async () => {
    const user = {
      email: 'ada@example.com',
      roles: ['user', 'editor'],
      memberships: [{ slug: 'berlin' }],
      profile: { givenName: 'Ada', languages: [{ code: 'de', level: 'NATIVE' }] },
    };
    expect((await read('export.json', JSON.stringify({ items: [user] }))).all[0]?.row).toEqual({
      email: 'ada@example.com',
      roleSlugs: ['user', 'editor'],
      membershipSlugs: ['berlin'],
      profile: { givenName: 'Ada', languages: [{ code: 'de', level: 'NATIVE' }] },
    });
  });

  test('a file of the command line is read completely, including its formula guards', async () => {
    const user = {
      ...{
        userId: 'usr_1',
        email: 'ada@example.com',
        externalId: '=crm;1',
        username: 'ada',
        status: 'active',
        joinedAt: '',
        lastSeenAt: null,
      },
      metadata: { plan: 'pro', seats: [1, 2] },
      ...{ roles: ['user', 'editor'], memberships: ['-berlin'], scopes: [] },
      profile: {
        ...{ givenName: '@home', familyName: "'=Lovelace", fullName: '=Ada;=1+1', locale: 'de', timezone: null },
        languages: [{ code: 'de', level: 'NATIVE' }],
      },
    };
    const columns = exportedColumns(true);
    const text = csvOf([columns.map(({ name }) => name), columns.map(({ cellOf }) => cellOf(user))]);
    const { all, mapping } = await read('users.csv', text);
    expect(mapping).toEqual(columns.map(({ field }) => field));
    expect(all).toEqual([
      {
        line: 2,
        email: 'ada@example.com',
        row: {
          email: 'ada@example.com',
          roleSlugs: ['user', 'editor'],
          membershipSlugs: ['-berlin'],
          externalId: '=crm;1',
          metadata: { plan: 'pro', seats: [1, 2] },
          profile: {
            username: 'ada',
            ...{ givenName: '@home', familyName: "'=Lovelace", fullName: '=Ada;=1+1', locale: 'de' },
            languages: [{ code: 'de', level: 'NATIVE' }],
          },
        },
        problem: null,
      },
    ]);
  });

  test('a file with unmatched quotes is refused with the row', async () => {
    await expect(read('users.csv', 'email\n"ada@example.com\n')).rejects.toThrow(
      'The file cannot be read: the quotes in line 2 do not match.',
    );
  });

  test.each([
    ['users.json', '{"email": 1}'],
    ['users.json', '[1]'],
    ['users.json', '[{'],
    ['users.csv', 'email\n'],
    ['users.csv', `email\n${'a@example.com\n'.repeat(100_001)}`],
  ])('an unusable file is refused with a reason: %s %.20s', async (name, text) => {
    await expect(read(name, text)).rejects.toBeInstanceOf(UnreadableFile);
  });
});

test('a row that would fail the whole call is held back', async () => {
  const { all } = await read(
    'users.csv',
    [
      'email,name,roles,languages',
      `a@example.com,${'x'.repeat(201)},,`,
      `b@example.com,,${'r'.repeat(65)},`,
      'c@example.com,,,de:WELL',
      'nobody,,,',
      ',Bea,,',
      'd@example.com,Dan,user|editor;x,de',
    ].join('\n'),
  );
  expect(all.map(({ problem }) => problem !== null)).toEqual([true, true, true, true, true, false]);
  expect(all[5]?.row).toMatchObject({
    roleSlugs: ['user', 'editor', 'x'],
    profile: { languages: [{ code: 'de', level: 'FLUENT' }] },
  });
});
