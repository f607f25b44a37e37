/**
 * What jobs/spring-sale.yaml must come to with these files, counted from how the rows were made.
 *
 * @param {import('./build.mjs').ExpectedRow[]} rows
 */
export function countAccount(rows) {
  const steps = [];
  for (const { step, file, disposition, fault } of rows) {
    steps[step - 1] ??= { step, ...emptyCounts(), rejectedByFault: {}, files: {} };
    const account = steps[step - 1];
    account.files[file] ??= emptyCounts();
    for (const counts of [account, account.files[file]]) {
      counts.read++;
      counts[disposition]++;
    }
    if (fault !== '') account.rejectedByFault[fault] = (account.rejectedByFault[fault] ?? 0) + 1;
  }
  return { steps };
}

/** One line a row, in the order in which the steps read them. */
export function writeExpectedRows(rows) {
  const lines = rows.map(({ step, file, line, row, disposition, fault, destination }) =>
    [step, file, line, row, disposition, fault, destination].join(','),
  );
  return `step,file,line,row,disposition,fault,destination\n${lines.join('\n')}\n`;
}

function emptyCounts() {
  return { read: 0, accepted: 0, rejected: 0, duplicate: 0, suppressed: 0 };
}
