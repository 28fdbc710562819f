import { readWorkbook } from './xlsx';

onmessage = (e: MessageEvent<ArrayBuffer>) => {
  try {
    postMessage({ book: readWorkbook(new Uint8Array(e.data)) });
  } catch (error) {
    postMessage({ error: error instanceof Error ? error.message : 'this workbook can’t be read' });
  }
};
