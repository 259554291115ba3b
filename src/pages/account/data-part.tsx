/** What is held about the reader: taken along, and, last, deleted. */
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
