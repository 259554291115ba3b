/** Import and export of users; each has its own address. */
import { Link } from 'wouter-preact';
import { addresses, useOpen } from '../../address.ts';
import { PageHead } from '../../components/page-head.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ExportPanel } from '../users/export-panel.tsx';
import { ImportFile } from './import-file.tsx';
import { useImportRun } from './import-run.ts';
import { RunPanel } from './run-panel.tsx';

export function Import({ application }: ApplicationViewProps) {
  const [part] = useOpen();
  const isExport = part === 'export';
  const run = useImportRun(application.id);
  return (
    <>
      <PageHead
        title={isExport ? 'Export users' : 'Import users'}
        lead={
          isExport
            ? 'Everybody in this application, with their names, roles, scopes and groups, as a file.'
            : 'People from another system, with their names, roles and groups. Nobody is mailed, and nothing existing is overwritten.'
        }
      />
      <nav class="tabs view-tabs" aria-label="Import and export">
        <Link href={addresses.application(application.id, 'import')} aria-current={isExport ? undefined : 'page'}>
          Import
        </Link>
        <Link
          href={addresses.application(application.id, 'import', 'export')}
          aria-current={isExport ? 'page' : undefined}
        >
          Export
        </Link>
      </nav>
      {isExport ? (
        <ExportPanel application={application} />
      ) : run ? (
        <RunPanel applicationId={application.id} run={run} />
      ) : (
        <ImportFile application={application} />
      )}
    </>
  );
}
