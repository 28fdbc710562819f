import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { readCsv } from '../src/chat/preview/csv.ts';
import { readWorkbook } from '../src/chat/preview/xlsx.ts';

const rels = '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Target="/xl/worksheets/sheet2.xml" Id="rId2"/></Relationships>';
const book = '<workbook><sheets><sheet name="A &amp; B" sheetId="1" r:id="rId1"/><sheet name="Two" sheetId="2" r:id="rId2"/></sheets></workbook>';

const workbook = (parts: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries({ 'xl/workbook.xml': book, 'xl/_rels/workbook.xml.rels': rels, ...parts }).map(([k, v]) => [k, strToU8(v)])));

test('a workbook shows texts, numbers, dates, stored results and gaps', () => {
  const { sheets } = readWorkbook(
    workbook({
      'xl/sharedStrings.xml': '<sst><si><t>Unit</t></si><si><r><t>Val</t></r><r><t xml:space="preserve">ue &lt;</t></r></si><si/></sst>',
      'xl/styles.xml': '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
      'xl/worksheets/sheet1.xml':
        '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="3"><c r="A3"><v>1.5</v></c><c r="B3" s="1"><v>46355</v></c>' +
        '<c r="C3" t="str"><f>A3&amp;"x"</f><v>1.5x</v></c><c r="D3" t="b"><v>1</v></c><c r="E3" t="inlineStr"><is><t>=1+1</t></is></c></row></sheetData></worksheet>',
      'xl/worksheets/sheet2.xml': '<worksheet><sheetData/></worksheet>',
    }),
  );
  assert.deepEqual(sheets, [
    { name: 'A & B', rows: [['Unit', '', 'Value <'], [], [1.5, '2026-11-29', '1.5x', 'TRUE', '=1+1']], more: false },
    { name: 'Two', rows: [], more: false },
  ]);
});

test('a long sheet is cut, a wide one as well, and what is no workbook says so', () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><v>${i}</v></c><c r="ZZ${i + 1}"><v>1</v></c></row>`).join('');
  const [sheet] = readWorkbook(workbook({ 'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>` })).sheets;
  assert.equal(sheet!.rows.length, 1000);
  assert.equal(sheet!.more, true);
  assert.equal(sheet!.rows[0]!.length, 1);
  assert.throws(() => readWorkbook(zipSync({ 'a.txt': strToU8('a') })), /no Excel workbook/);
  assert.throws(() => readWorkbook(new Uint8Array(100)));
});

test('a part that unpacks to too much is never unpacked', () => {
  const bomb = workbook({ 'xl/worksheets/sheet1.xml': ' '.repeat(97e6) });
  assert.ok(bomb.length < 1e6);
  assert.match(readWorkbook(bomb).sheets[0]!.skipped ?? '', /too large/);
});

test('CSV with quotes, breaks and a cut last row', () => {
  assert.deepEqual(readCsv('a,b\r\n"x, ""y""","1\n2"\n3,'), [['a', 'b'], ['x, "y"', '1\n2'], ['3', '']]);
  assert.deepEqual(readCsv('a\tb\n1\t"unfini', '\t'), [['a', 'b']]);
});
