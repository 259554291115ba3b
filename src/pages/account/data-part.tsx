import { CloseSection } from './close-section.tsx';
import { ExportSection } from './export-section.tsx';

export function DataPart() {
  return (
    <>
      <ExportSection />
      <CloseSection />
    </>
  );
}
