// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run_table_model.h"

#include "app/core/format.h"
#include "app/core/metric_text.h"

#include <algorithm>

namespace lectern {

namespace {

QString fromUtf8(const std::string &text)
{
    return QString::fromStdString(text);
}

MetricId metricOf(int column)
{
    switch (column) {
    case RunTableModel::Ttft:
        return MetricId::Ttft;
    case RunTableModel::Tpot:
        return MetricId::Tpot;
    case RunTableModel::DecodeRate:
        return MetricId::Decode;
    default:
        return MetricId::Kv;
    }
}

template <class Number>
QVariant orMissing(std::optional<Number> value)
{
    return value ? QVariant(static_cast<double>(*value))
                 : QVariant(-1.0); // runs without the value sort before all others
}

bool isNumber(int column)
{
    return column >= RunTableModel::Prompt && column <= RunTableModel::Kv;
}

} // namespace

RunTableModel::RunTableModel(RunStore *store, QObject *parent)
    : QAbstractTableModel(parent)
    , m_store(store)
{
    for (const RunEntry &run : store->runs())
        m_ids.push_back(run.id);
    m_currentId = store->currentId();
    connect(store, &RunStore::runAdded, this, &RunTableModel::addRun);
    connect(store, &RunStore::runRemoved, this, &RunTableModel::dropRun);
    connect(store, &RunStore::runChanged, this, [this](int id) { rowChanged(id); });
    connect(store, &RunStore::runEdited, this, [this](int id) { rowChanged(id); });
    connect(store, &RunStore::currentChanged, this, [this](int id) {
        const int before = std::exchange(m_currentId, id);
        rowChanged(before, {IsCurrentRole});
        rowChanged(id, {IsCurrentRole});
    });
}

void RunTableModel::addRun(int id)
{
    const auto &runs = m_store->runs();
    const auto found = std::find_if(runs.begin(), runs.end(), [id](const RunEntry &run) { return run.id == id; });
    const auto row = static_cast<int>(found - runs.begin());
    beginInsertRows({}, row, row);
    m_ids.insert(m_ids.begin() + row, id);
    endInsertRows();
}

void RunTableModel::dropRun(int id)
{
    const int row = rowOf(id);
    if (row < 0)
        return;
    beginRemoveRows({}, row, row);
    m_ids.erase(m_ids.begin() + row);
    endRemoveRows();
}

void RunTableModel::rowChanged(int id, const QList<int> &roles)
{
    if (const int row = rowOf(id); row >= 0)
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1), roles);
}

int RunTableModel::rowOf(int runId) const
{
    const auto found = std::find(m_ids.begin(), m_ids.end(), runId);
    return found == m_ids.end() ? -1 : static_cast<int>(found - m_ids.begin());
}

int RunTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_ids.size());
}

int RunTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RunTableModel::backendText(const EngineInfo &engine)
{
    if (engine.backend.empty())
        return {}; // before the engine has taken the request
    const QString name = backendName(engine.backend);
    return engine.threads == 1 ? tr("%1 · 1 thread").arg(name)
                               : tr("%1 · %n threads", nullptr, engine.threads).arg(name);
}

QString RunTableModel::text(const RunEntry &run, int column) const
{
    const RunRecord &record = *run.record;
    switch (column) {
    case Title:
        return run.title;
    case Model:
        return modelTitle(record.model);
    case Backend:
        return backendText(record.engine);
    case Prompt:
        return formatCount(run.metrics->now().promptTokens);
    case Output:
        return formatCount(run.metrics->now().outputTokens);
    case Outcome:
        return outcomeText(record);
    case Overlay:
        return {};
    default:
        return metricText(metricOf(column), run.metrics->now()).value;
    }
}

QString RunTableModel::toolTip(const RunEntry &run, int column) const
{
    const RunRecord &record = *run.record;
    switch (column) {
    case Title:
        return run.filePath.isEmpty() ? run.title : tr("%1\n%2", "title, file").arg(run.title, run.filePath);
    case Model:
        return tr("%1: %2, %3, %4 layers", "file, architecture, quantisation")
            .arg(fromUtf8(record.model.fileName), fromUtf8(record.model.architecture),
                 fromUtf8(record.model.quantisation), formatCount(record.model.layers));
    case Backend:
        return record.request.cache == CacheMode::None
                   ? tr("%1, without KV cache: the whole context is computed again at every step")
                         .arg(fromUtf8(record.engine.instructionSet))
                   : fromUtf8(record.engine.instructionSet);
    case Prompt:
        return tr("Prompt tokens: %1; from the cache of the run before: %2, evaluated: %3")
            .arg(formatCount(run.metrics->now().promptTokens), formatCount(run.metrics->now().reusedTokens),
                 formatCount(run.metrics->now().evaluatedTokens));
    case Output:
        return tr("Tokens: %1; forward passes: %2")
            .arg(formatCount(run.metrics->now().outputTokens), formatCount(run.metrics->now().passes));
    case Outcome:
        return record.error ? fromUtf8(record.error->text()) : outcomeText(record);
    case Overlay:
        return tr("Show this run in every chart beside the current one");
    default:
        return metricText(metricOf(column), run.metrics->now()).toolTip;
    }
}

QVariant RunTableModel::sortKey(const RunEntry &run, int column) const
{
    const Metrics &metrics = run.metrics->now();
    switch (column) {
    case Prompt:
        return metrics.promptTokens;
    case Output:
        return metrics.outputTokens;
    case Ttft:
        return orMissing(metrics.ttftNs);
    case Tpot:
        return orMissing(metrics.tpotNs);
    case DecodeRate:
        return orMissing(metrics.decodeTokensPerSecond);
    case Kv:
        return orMissing(metrics.kvUsedBytes);
    case Overlay:
        return run.isOverlaid;
    default:
        return text(run, column);
    }
}

QVariant RunTableModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const RunEntry *run = m_store->find(m_ids[static_cast<std::size_t>(index.row())]);
    if (!run)
        return {}; // between the store's removal and its signal
    switch (role) {
    case Qt::DisplayRole:
        return text(*run, index.column());
    case Qt::EditRole:
        return index.column() == Title ? QVariant(run->title) : QVariant(text(*run, index.column()));
    case Qt::ToolTipRole:
        return toolTip(*run, index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft)));
    case Qt::CheckStateRole:
        return index.column() == Overlay ? QVariant(run->isOverlaid ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::AccessibleTextRole:
        return index.column() == Overlay ? QVariant(run->isOverlaid ? tr("overlaid") : tr("not overlaid")) : QVariant();
    case RunIdRole:
        return run->id;
    case StyleRole:
        return run->style;
    case IsCurrentRole:
        return run->id == m_currentId;
    case SortRole:
        return sortKey(*run, index.column());
    default:
        return {};
    }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft)));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Title:
        return tr("Run");
    case Model:
        return tr("Model");
    case Backend:
        return tr("Backend");
    case Prompt:
        return tr("Prompt", "tokens of the prompt");
    case Output:
        return tr("Output", "tokens of the answer");
    case Outcome:
        return tr("Outcome");
    case Overlay:
        return tr("Overlay");
    case DecodeRate:
        return tr("tok/s", "decode speed");
    default:
        return metricText(metricOf(section), {}).name;
    }
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex &index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (!index.isValid())
        return flags;
    flags |= Qt::ItemNeverHasChildren;
    if (index.column() == Title)
        flags |= Qt::ItemIsEditable;
    if (index.column() == Overlay)
        flags |= Qt::ItemIsUserCheckable;
    return flags;
}

bool RunTableModel::setData(const QModelIndex &index, const QVariant &value, int role)
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    const int id = m_ids[static_cast<std::size_t>(index.row())];
    if (index.column() == Overlay && role == Qt::CheckStateRole) {
        m_store->setOverlaid(id, value.toInt() == Qt::Checked);
        return true;
    }
    if (index.column() == Title && role == Qt::EditRole && !value.toString().simplified().isEmpty()) {
        m_store->rename(id, value.toString());
        return true;
    }
    return false;
}

} // namespace lectern
