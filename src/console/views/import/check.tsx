/** Problems of a file before it is sent: invalid rows, duplicate addresses, unavailable usernames. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import { Action, useReport } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { Progress } from '../../components/progress.tsx';
import { count, counted } from '../../components/format.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import type { Candidates } from './candidates.ts';
import { startImport } from './import-run.ts';
import type { Table } from './read-table.ts';
import { checkUsernames, type UsernameVerdicts } from './username-check.ts';

const SHOWN = 100;

interface CheckProps extends ApplicationViewProps {
  readonly table: Table;
  readonly candidates: Candidates;
}

export function Check({ application, table, candidates }: CheckProps) {
  const { all, unusable, repeated, usernames } = candidates;
  const report = useReport();
  const [checked, setChecked] = useState<number | null>(null);
  const [verdicts, setVerdicts] = useState<UsernameVerdicts | null>(null);
  const [areWithheld, setAreWithheld] = useState(true);
  const work = useRef(new AbortController());
  useEffect(() => () => work.current.abort(), []);
  const sendable = all.length - unusable.length;
  const gone = verdicts ? [...verdicts].filter(([, verdict]) => verdict !== 'available') : [];

  async function check(): Promise<void> {
    setChecked(0);
    const outcome = await checkUsernames(application.id, usernames, setChecked, work.current.signal);
    if (work.current.signal.aborted) return;
    setChecked(null);
    if (report(outcome)) setVerdicts(outcome.data);
  }

  function start(): void {
    startImport({
      applicationId: application.id,
      fileName: table.fileName,
      candidates: all,
      withheldUsernames: new Set(areWithheld ? gone.map(([name]) => name) : []),
    });
  }

  return (
    <Panel
      id="import-check"
      title="Checks before sending"
      action={
        <Action id="start-import" look="primary" isDisabled={sendable === 0} onClick={start}>
          {`Import ${counted(sendable, 'row')}`}
        </Action>
      }
    >
      {unusable.length === 0 && repeated.length === 0 && <p class="muted">Every row has its own e-mail address.</p>}
      {unusable.length > 0 && (
        <Finding
          id="unusable-rows"
          title={`${counted(unusable.length, 'row')} cannot be sent`}
          lead="They are left out, and listed in the report."
          items={unusable.map(({ line, email, problem }) => `Row ${count(line)}: ${email || 'empty'}. ${problem}`)}
        />
      )}
      {repeated.length > 0 && (
        <Finding
          id="repeated-rows"
          title={`${counted(repeated.length, 'row')} with an address from an earlier row`}
          lead="The first row counts; later ones add their roles and fill in what it leaves empty."
          items={repeated.map(
            ({ candidate: { line, email }, firstLine }) =>
              `Row ${count(line)}: ${email}, first in row ${count(firstLine)}`,
          )}
        />
      )}
      {usernames.length > 0 && verdicts === null && checked === null && (
        <div class="finding">
          <p>
            {counted(usernames.length, 'username')} in the file. A row whose username is taken is skipped as a whole.
          </p>
          <Action id="check-usernames" onClick={check}>
            Check usernames
          </Action>
        </div>
      )}
      {checked !== null && <Progress label="Checking usernames" done={checked} total={usernames.length} />}
      {verdicts && gone.length === 0 && <p class="muted">All {counted(usernames.length, 'username')} are available.</p>}
      {gone.length > 0 && (
        <Finding
          id="gone-usernames"
          title={`${counted(gone.length, 'username')} not available`}
          lead="A username can also be taken by the same person, who keeps it."
          items={gone.map(([name, verdict]) => `${name}: ${verdict === 'taken' ? 'taken' : 'not a valid username'}`)}
        >
          <Checkbox
            id="withhold-usernames"
            label="Import these rows without their username"
            isChecked={areWithheld}
            onChange={setAreWithheld}
          />
        </Finding>
      )}
    </Panel>
  );
}

interface FindingProps {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly items: readonly string[];
  readonly children?: ComponentChildren;
}

function Finding({ id, title, lead, items, children }: FindingProps) {
  return (
    <div class="finding" id={id}>
      <details>
        <summary>{title}</summary>
        <ul tabIndex={0}>
          {items.slice(0, SHOWN).map((item) => (
            <li key={item} dir="auto">
              {item}
            </li>
          ))}
          {items.length > SHOWN && <li>And {count(items.length - SHOWN)} more.</li>}
        </ul>
      </details>
      <p class="fine">{lead}</p>
      {children}
    </div>
  );
}
