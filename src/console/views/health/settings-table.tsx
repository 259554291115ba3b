/** All settings with value, default and meaning. */
import { useFilters } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Empty } from '../../components/empty.tsx';
import { FilterFields, SearchField } from '../../components/filters.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';

type Setting = Schemas['InstanceSetting'];

const KIND = {
  name: 'kind',
  id: 'settings-kind',
  label: 'Which settings',
  any: 'Set and default',
  choices: [
    { value: 'set', label: 'Set' },
    { value: 'default', label: 'Default' },
  ],
} as const;

export function SettingsTable({ settings }: { readonly settings: readonly Setting[] }) {
  const [filters, setFilters] = useFilters(['q', 'kind']);
  const words = (filters.q ?? '').toLowerCase().split(/\s+/);
  const shown = settings.filter(
    ({ name, meaning, isDefault }) =>
      words.every((word) => `${name} ${meaning}`.toLowerCase().includes(word)) &&
      (filters.kind === undefined || isDefault === (filters.kind === 'default')),
  );
  return (
    <Panel
      id="settings"
      title="Settings"
      lead="Read from the environment and the command line when the server starts. Secrets are never shown."
    >
      <div class="toolbar">
        <SearchField
          id="settings-q"
          label="Search settings"
          value={filters.q ?? ''}
          onSearch={(q) => setFilters({ q }, true)}
        />
        <FilterFields of={[KIND]} filters={filters} onChange={setFilters} />
      </div>
      {shown.length === 0 ? (
        <Empty title="No such setting">No setting has these words in its name or description.</Empty>
      ) : (
        <div class="table-frame settings-table">
          <table id="settings-table" aria-label="Settings">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ name, value, isDefault, meaning }) => (
                <tr key={name} data-key={name}>
                  <td>
                    <code>{name}</code>
                    <span class="fine">{withCode(meaning)}</span>
                  </td>
                  <td>
                    {value === null ? <span class="muted">Not set</span> : <code>{value}</code>}
                    {!isDefault && (
                      <div>
                        <Status tone="good">Set</Status>
                      </div>
                    )}
                    {isDefault && value !== null && <span class="fine">Default</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
