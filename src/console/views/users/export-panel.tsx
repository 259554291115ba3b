/** Exports users to a file: filters, format and progress. */
import { Download } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../pages/components/icon.tsx';
import { useToast } from '../../../pages/components/toast.tsx';
import { useFilters } from '../../address.ts';
import { Action, useReport } from '../../components/action.tsx';
import { ChooseOne } from '../../components/choices.tsx';
import { Panel } from '../../components/panel.tsx';
import { Progress } from '../../components/progress.tsx';
import { counted } from '../../components/format.ts';
import type { FileFormat } from '../../list-file.ts';
import { useRights } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useAccess } from '../grants/access.ts';
import { MemberFilters } from './member-filters.tsx';
import { exportUsers } from './export-users.ts';

export function ExportPanel({ application }: ApplicationViewProps) {
  const { canWrite } = useRights();
  const report = useReport();
  const toast = useToast();
  const [filters, setFilters] = useFilters(['status', 'role', 'membership']);
  const [format, setFormat] = useState<FileFormat>('csv');
  const [done, setDone] = useState<number | null>(null);
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);
  const { data: access } = useAccess(application.id);

  async function start(): Promise<void> {
    const controller = new AbortController();
    work.current = controller;
    setDone(0);
    const outcome = await exportUsers({
      applicationId: application.id,
      format,
      filters,
      hasProfiles: canWrite,
      signal: controller.signal,
      onProgress: setDone,
    });
    setDone(null);
    if (!report(outcome) || outcome.data === null) return;
    toast(`${counted(outcome.data.count(), 'user')} exported.`);
    outcome.data.save(`${application.slug}-users-${new Date().toISOString().slice(0, 10)}`);
  }

  return (
    <Panel
      id="export"
      title="Contents of the file"
      lead={
        canWrite
          ? 'With names, language, time zone and languages. Addresses and companies are never exported.'
          : 'Names and the rest of the profile are exported for admins and owners only; you get everything else.'
      }
    >
      <div class="toolbar">
        <MemberFilters idPrefix="export-" filters={filters} access={access} onChange={setFilters} />
      </div>
      <ChooseOne
        id="export-format"
        label="As"
        isDisabled={done !== null}
        choices={[
          { value: 'csv', label: 'CSV', detail: 'For spreadsheets. No cell can run as a formula.' },
          { value: 'json', label: 'JSON', detail: 'As the API returns them, in one list.' },
        ]}
        chosen={format}
        onChange={setFormat}
      />
      {done === null ? (
        <Action
          id="start-export"
          look="primary"
          needs="nothing"
          icon={<Icon of={Download} size={16} />}
          onClick={() => void start()}
        >
          Export
        </Action>
      ) : (
        <>
          <Progress label="Reading users" done={done} total={null} />
          <Action id="stop-export" needs="nothing" onClick={() => work.current?.abort()}>
            Stop
          </Action>
        </>
      )}
    </Panel>
  );
}
