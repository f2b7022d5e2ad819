// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of CSV files: what spreadsheets would take for a formula, and reading texts back.
#include "app/core/csv.h"
#include "app/core/run_export.h"

#include <QStringDecoder>
#include <QTest>

#include <cmath>
#include <random>

using namespace lectern;

namespace {

QString toString(const QByteArray &utf8) // with the mark U+FEFF at its beginning
{
    return QStringDecoder(QStringDecoder::Utf8, QStringDecoder::Flag::ConvertInitialBom)(utf8);
}

// A reader of RFC 4180 with a separator of its own, as spreadsheets in other countries have it.
QList<QByteArray> cellsOf(const QByteArray &csv, char separator)
{
    QList<QByteArray> cells{{}};
    bool isQuoted = false;
    bool isStart = true; // of a cell
    for (qsizetype i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        const bool isDoubled = isQuoted && c == '"' && i + 1 < csv.size() && csv[i + 1] == '"';
        if (isDoubled) {
            cells.back() += c;
            ++i;
        } else if (c == '"' && (isQuoted || isStart)) {
            isQuoted = !isQuoted;
        } else if (!isQuoted && (c == separator || c == '\r' || c == '\n')) {
            cells.push_back({});
            isStart = true;
            continue;
        } else {
            cells.back() += c;
        }
        isStart = false;
    }
    return cells;
}

// The rule that the guide states.
QString readBack(const QString &cell)
{
    QString text;
    for (qsizetype i = 0; i < cell.size(); ++i) {
        const bool isPlace = i == 0 || QStringView(u";\t\r\n").contains(cell[i - 1]);
        if (isPlace && cell[i] == u'\'' && ++i == cell.size())
            break;
        text += cell[i];
    }
    return text;
}

// As suspicious as a spreadsheet.
bool isFormula(const QByteArray &cell)
{
    if (cell.startsWith('\t') || cell.startsWith('\r'))
        return true;
    for (const QChar c : toString(cell)) {
        if (QStringView(u"=+-@\uFF1D\uFF0B\uFF0D\uFF20").contains(c))
            return true;
        if (!c.isSpace() && c != u'"' && c.category() != QChar::Other_Format && c.category() != QChar::Other_Control)
            return false;
    }
    return false;
}

QByteArray rowOf(const QString &text)
{
    return csvRow({"a", text.toUtf8(), CsvCell::number(-1)});
}

QString textIn(const QByteArray &row)
{
    return toString(cellsOf(row, ',').value(1));
}

} // namespace

class TestCsv : public QObject
{
    Q_OBJECT

private slots:
    void aTextThatBeginsLikeAFormulaGetsAnApostrophe_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("cell");
        const auto row = [](const char *text, const char *cell) {
            QTest::newRow(text) << toString(text) << toString(cell);
        };
        row("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")");
        row("=", "'=");
        row("+1", "'+1");
        row("-1", "'-1"); // a token, not a number
        row("@SUM", "'@SUM");
        row("\t", "'\t");
        row("\tx", "'\tx");
        row("\rx", "'\rx");
        row("＝1", "'＝1");
        row("＋1", "'＋1");
        row("－1", "'－1");
        row("＠x", "'＠x");
        row("  =1", "'  =1");
        row("\u00A0\u3000=1", "'\u00A0\u3000=1");
        row("\u200B=1", "'\u200B=1");
        row("\uFEFF=1", "'\uFEFF=1");
        row("\x01=1", "'\x01=1");
        row("\"=1", "'\"=1");
        row(" \" =1", "' \" =1");
        row("'", "''");
        row("'=1", "''=1");
        row("''", "'''");
        row("\n=1", "\n'=1");
        row("a\n=1", "a\n'=1");
        row("a\r\n-1", "a\r\n'-1");
        row("a;=1", "a;'=1");
        row("a\t @x", "a\t' @x");
        row("a;'x", "a;''x");
        row("\t=1", "'\t'=1");
        row("a;\"\tb", "a;'\"\tb");
        row("", "");
        row(" ", " ");
        row("a=1", "a=1");
        row("(-1)", "(-1)");
        row("a'b", "a'b");
        row("1-2", "1-2");
        row("\n\n", "\n\n");
        row("a, -b", "a, -b"); // quoted: no cell of its own
        row("−1", "−1");       // a minus sign of text
    }

    void aTextThatBeginsLikeAFormulaGetsAnApostrophe()
    {
        QFETCH(QString, text);
        QFETCH(QString, cell);
        const QByteArray row = rowOf(text);
        QCOMPARE(textIn(row), cell);
        QCOMPARE(readBack(cell), text);
        QVERIFY(row.endsWith(",-1\r\n"));
    }

    void everyTextReadsBackAndNoneIsAFormulaWhateverSeparatesTheCells()
    {
        const QString pool = QStringLiteral("='+-@;,\t\r\n\" a1\uFF1D\u200B\u3000ü");
        std::mt19937 random(1);
        for (int count = 0; count < 200'000; ++count) {
            QString text;
            for (auto length = random() % 8; length > 0; --length)
                text += pool[static_cast<qsizetype>(random() % static_cast<unsigned>(pool.size()))];
            const QByteArray row = rowOf(text);
            QCOMPARE(readBack(textIn(row)), text);
            for (const char separator : {',', ';', '\t'})
                for (const QByteArray &cell : cellsOf(row, separator))
                    QVERIFY2(cell == "-1" || !isFormula(cell), row.constData());
        }
    }

    void numbersStayNumbers()
    {
        QCOMPARE(csvRow({CsvCell::number(-1),
                         CsvCell::number(-0.5f),
                         CsvCell::number(1e-7),
                         CsvCell::number(std::uint64_t(1) << 63),
                         CsvCell::number(NAN),
                         CsvCell::number(-INFINITY),
                         {}}),
                 QByteArray("-1,-0.5,0.0000001,9223372036854775808,,,\r\n"));
    }

    void aPieceOfTheVocabularyIsNoFormulaInTheTokenTable()
    {
        RunRecord record;
        TokenRecord token;
        token.bytes = "=HYPERLINK(";
        record.promptTokens = {token};
        token.bytes = token.text = "-";
        token.logprob = -2;
        record.outputTokens = {token};
        const QByteArray csv = tokensCsv(record);
        QVERIFY2(csv.contains(",'=HYPERLINK(,"), csv.constData());
        QVERIFY2(csv.contains(",2D,'-,0,0,0,-2,"), csv.constData());
    }
};

QTEST_GUILESS_MAIN(TestCsv)
#include "tst_csv.moc"
