import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { Progress } from '../../components/progress.tsx';
import { count, counted } from '../../components/format.ts';
import { useNow } from '../../refresh.ts';
import { forgetImportRun, type ImportRun, type ReportOutcome } from './import-run.ts';
import { OUTCOMES, Report } from './report.tsx';

interface RunPanelProps {
  readonly applicationId: string;
  readonly run: ImportRun;
}

export function RunPanel({ applicationId, run }: RunPanelProps) {
  const { state, fileName, counts } = run;
  const isOver = state === 'done' || state === 'stopped';
  const isAtWork = state === 'running' || state === 'waiting';
  return (
    <>
      <Panel
        id="import-run"
        title={TITLES[state]}
        lead={
          isOver
            ? fileName
            : `${fileName}. You can look at other views meanwhile; leave this page open until it is done.`
        }
        action={
          <div class="page-actions">
            {isAtWork && (
              <Action id="pause-import" onClick={run.pause}>
                Pause
              </Action>
            )}
            {(state === 'paused' || state === 'failed') && (
              <Action id="go-on" look="primary" onClick={run.resume}>
                Resume
              </Action>
            )}
            {!isOver && (
              <Action id="stop-import" onClick={run.stop}>
                Stop
              </Action>
            )}
            {isOver && (
              <Action id="import-another" needs="nothing" onClick={() => forgetImportRun(applicationId)}>
                Import another file
              </Action>
            )}
          </div>
        }
      >
        {!isOver && <Progress label={labelOf(run)} done={run.done} total={run.total} />}
        {state === 'waiting' && run.waitsUntil !== null && <Waiting until={run.waitsUntil} />}
        {run.failure && (
          <p class="note bad" role="alert" id="import-failure">
            {run.failure.message} Resuming repeats the last call, which changes nothing twice.
          </p>
        )}
        <dl class="tally" id="import-counts">
          {Object.entries(OUTCOMES)
            .filter(([outcome]) => outcome !== 'not_sent' || (isOver && counts.not_sent > 0))
            .map(([outcome, { title }]) => (
              <div key={outcome} data-outcome={outcome}>
                <dt>{title}</dt>
                <dd>{count(counts[outcome as ReportOutcome])}</dd>
              </div>
            ))}
        </dl>
        <UnknownSlugs applicationId={applicationId} run={run} />
      </Panel>
      {!isAtWork && <Report applicationId={applicationId} run={run} />}
    </>
  );
}

const TITLES: Readonly<Record<ImportRun['state'], string>> = {
  running: 'Importing',
  waiting: 'Importing',
  paused: 'Import paused',
  failed: 'Import interrupted',
  stopped: 'Import stopped',
  done: 'Import finished',
};

function labelOf({ state }: ImportRun): string {
  return state === 'paused' ? 'Paused' : state === 'failed' ? 'Interrupted' : 'Rows sent';
}

function Waiting({ until }: { readonly until: number }) {
  const seconds = Math.max(0, Math.ceil((until - useNow(true)) / 1000));
  return <p class="fine">The server asks to wait; resuming in {counted(seconds, 'second')}.</p>;
}

const SECTIONS = { roles: 'roles', scopes: 'scopes', memberships: 'groups' } as const;

function UnknownSlugs({ applicationId, run }: RunPanelProps) {
  const kinds = (['roles', 'scopes', 'memberships'] as const).filter((kind) => run.unknownSlugs[kind].length > 0);
  if (kinds.length === 0) return null;
  return (
    <div class="note warn" id="unknown-slugs">
      <p>The file names roles, scopes or groups that this application does not have. Nobody got them:</p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind}>
            <Link href={addresses.application(applicationId, SECTIONS[kind])}>
              {SECTIONS[kind] === 'groups' ? 'Groups' : kind === 'roles' ? 'Roles' : 'Scopes'}
            </Link>
            : {run.unknownSlugs[kind].join(', ')}
          </li>
        ))}
      </ul>
      <p>Create them, then import the same file again to add them.</p>
    </div>
  );
}
