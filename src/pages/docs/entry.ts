/** What a script adds to the documentation: buttons that copy, and the search. */
import { addCopyButtons } from './copy-buttons.ts';
import { startSearch } from './search-field.ts';

addCopyButtons();
startSearch();
