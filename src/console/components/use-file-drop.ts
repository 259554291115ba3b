/** Lets an element take a dropped file; `data-over` marks it while a file is above it. */
import { useState } from 'preact/hooks';

export function useFileDrop(take: (file: File | undefined) => void) {
  const [isOver, setIsOver] = useState(false);
  return {
    'data-over': isOver ? '' : undefined,
    onDragOver(event: DragEvent) {
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault();
      setIsOver(false);
      take(event.dataTransfer?.files[0]);
    },
  };
}
