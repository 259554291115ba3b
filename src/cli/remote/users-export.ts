/** `gatehouse users export`: all users of an application, a line for each, however many there are. */
import { csvLine } from './csv.ts';
import { remoteCommand } from './remote-command.ts';
import { jsonText } from '../printable.ts';

export const usersExport = remoteCommand({
  name: 'users export',
  summary: 'Print all users: a JSON object a line, or CSV',
  isOfApplication: true,
  isForPeople: true,
  options: { format: { value: 'FORMAT', meaning: 'jsonl, which has everything, or csv, as import takes it.' } },
  switches: { profile: 'With the profiles; needs full access.' },
  next: ['Next: gatehouse users export > users.jsonl'],
  async carryOut({ client, terminal, choice, isOn, application }) {
    const isCsv = choice('format', ['jsonl', 'csv']) === 'csv';
    const { id } = await application();
    const query = { sort: 'joined' as const, ...(isOn('profile') && { include: 'profile' as const }) };
    const profile = isOn('profile') ? (['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const) : [];
    if (isCsv) await terminal.out(csvLine(['email', 'roles', 'scopes', 'groups', 'username', ...profile]));
    for await (const user of client.all('/api/applications/{id}/users', { path: { id }, query })) {
      if (!isCsv) await terminal.out(`${jsonText(user)}\n`);
      else {
        const slugs = [user.roles, user.scopes, user.memberships].map((list) => list.join(' '));
        await terminal.out(
          csvLine([user.email, ...slugs, user.username, ...profile.map((name) => user.profile?.[name])]),
        );
      }
    }
  },
});
