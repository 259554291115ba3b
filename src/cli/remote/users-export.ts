/** `gatehouse users export`: streams all users of an application, one line each. */
import { csvOf } from '../../core/csv.ts';
import { exportedColumns } from '../../core/user-columns.ts';
import { remoteCommand } from './remote-command.ts';
import { jsonText } from '../sanitize.ts';

export const usersExport = remoteCommand({
  name: 'users export',
  summary: 'Print all users as JSON lines or CSV',
  isOfApplication: true,
  isForPeople: true,
  options: { format: { value: 'FORMAT', meaning: 'jsonl, with every field, or csv, which import reads.' } },
  switches: { profile: 'Include profiles; needs full access.' },
  next: ['Next: gatehouse users export > users.jsonl'],
  async execute({ client, terminal, choice, isOn, application }) {
    const isCsv = choice('format', ['jsonl', 'csv']) === 'csv';
    const { id } = await application();
    const query = { sort: 'joined' as const, ...(isOn('profile') && { include: 'profile,metadata' }) };
    const columns = exportedColumns(isOn('profile'));
    if (isCsv) await terminal.out(csvOf([columns.map(({ name }) => name)]));
    for await (const user of client.all('/api/applications/{id}/users', { path: { id }, query }))
      await terminal.out(isCsv ? csvOf([columns.map(({ cellOf }) => cellOf(user))]) : `${jsonText(user)}\n`);
  },
});
