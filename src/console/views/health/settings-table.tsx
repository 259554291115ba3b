/** Settings with value, default and meaning: those that are set, all of them, or the defaults. */
import { Select } from '../../../pages/components/select-field.tsx';
import { useFilters } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Empty } from '../../components/empty.tsx';
import { SearchField } from '../../components/filters.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';

type Setting = Schemas['InstanceSetting'];

const KINDS = [
  { value: 'set', label: 'Set' },
  { value: 'default', label: 'Default' },
  { value: 'all', label: 'Set and default' },
] as const;

export function SettingsTable({ settings }: { readonly settings: readonly Setting[] }) {
  const [filters, setFilters] = useFilters(['q', 'kind']);
  const words = (filters.q ?? '').toLowerCase().split(/\s+/);
  // A search looks through all settings, unless the reader has chosen otherwise.
  const kind = KINDS.find(({ value }) => value === filters.kind)?.value ?? (filters.q ? 'all' : 'set');
  const shown = settings.filter(
    ({ name, meaning, isDefault }) =>
      words.every((word) => `${name} ${meaning}`.toLowerCase().includes(word)) &&
      (kind === 'all' || isDefault === (kind === 'default')),
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
          opensIds
          onSearch={(q) => setFilters({ q }, true)}
        />
        <Select
          id="settings-kind"
          label="Which settings"
          value={kind}
          choices={KINDS}
          isSmall
          onChoose={(value) => setFilters({ kind: value })}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title={filters.q ? 'No such setting' : 'Nothing is set'}>
          {filters.q ? 'No setting has these words in its name or description.' : 'Every setting has its default.'}
        </Empty>
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
