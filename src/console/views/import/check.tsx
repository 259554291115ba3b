/** Problems of a file before it is sent: invalid rows, duplicate addresses, unavailable usernames. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import { Action, useReport } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { Progress } from '../../components/progress.tsx';
import { count, counted } from '../../components/format.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import type { Candidates } from './candidates.ts';
import { Finding } from './finding.tsx';
import { startImport } from './import-run.ts';
import type { Table } from './read-table.ts';
import { UnknownGrants } from './unknown-grants.tsx';
import { checkUsernames, type UsernameVerdict, type UsernameVerdicts } from './username-check.ts';

const VERDICT_WORDS: Readonly<Record<UsernameVerdict, string>> = {
  available: 'available',
  taken: 'taken',
  reserved: 'reserved, since it could be mistaken for this service or its operator',
  format_invalid: 'not a valid username',
};

interface CheckProps extends ApplicationViewProps {
  readonly table: Table;
  readonly candidates: Candidates;
  /** Names of columns without a field. */
  readonly leftOut: readonly string[];
}

export function Check({ application, table, candidates, leftOut }: CheckProps) {
  const { all, unusable, repeated, usernames, grants } = candidates;
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
          title={counted(repeated.length, 'duplicate address', 'duplicate addresses')}
          lead="The first row counts; later ones add their roles and fill in what it leaves empty."
          items={repeated.map(
            ({ candidate: { line, email }, firstLine }) =>
              `Row ${count(line)}: ${email}, first in row ${count(firstLine)}`,
          )}
        />
      )}
      <UnknownGrants applicationId={application.id} named={grants} />
      {leftOut.length > 0 && (
        <Finding
          id="left-out-columns"
          title={`${counted(leftOut.length, 'column')} left out: ${leftOut.join(', ')}`}
          lead="No field is chosen for them above, so their values are not imported."
          items={leftOut}
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
          items={gone.map(([name, verdict]) => `${name}: ${VERDICT_WORDS[verdict]}`)}
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
