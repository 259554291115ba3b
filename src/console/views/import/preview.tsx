import { Panel } from '../../components/panel.tsx';
import type { Candidate } from './candidates.ts';

const SHOWN = 5;

interface PreviewColumn {
  readonly title: string;
  readonly textOf: (candidate: Candidate) => string;
}

const COLUMNS: readonly PreviewColumn[] = [
  { title: 'E-mail', textOf: ({ email }) => email },
  {
    title: 'Name',
    textOf: ({ row: { profile } }) =>
      profile?.fullName ?? [profile?.givenName, profile?.familyName].filter(Boolean).join(' '),
  },
  { title: 'Username', textOf: ({ row }) => row.profile?.username ?? '' },
  { title: 'Roles', textOf: ({ row }) => row.roleSlugs?.join(', ') ?? '' },
  { title: 'Groups', textOf: ({ row }) => row.membershipSlugs?.join(', ') ?? '' },
  { title: 'Scopes', textOf: ({ row }) => row.scopeSlugs?.join(', ') ?? '' },
  {
    title: 'Language and zone',
    textOf: ({ row: { profile } }) => [profile?.locale, profile?.timezone].filter(Boolean).join(', '),
  },
  { title: 'Speaks', textOf: ({ row }) => row.profile?.languages?.map(({ code }) => code).join(', ') ?? '' },
];

export function Preview({ candidates }: { readonly candidates: readonly Candidate[] }) {
  const first = candidates.slice(0, SHOWN);
  const columns = COLUMNS.filter(({ textOf }, index) => index === 0 || first.some((one) => textOf(one) !== ''));
  return (
    <Panel id="import-preview" title="Preview">
      <div class="table-frame" role="region" aria-label="The first rows" tabIndex={0}>
        <table aria-label="The first rows">
          <thead>
            <tr>
              {columns.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first.map((candidate) => (
              <tr key={candidate.line}>
                {columns.map(({ title, textOf }) => (
                  <td key={title} dir="auto">
                    {textOf(candidate)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
