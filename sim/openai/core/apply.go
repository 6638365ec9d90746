package core

import "net/http"

// Apply answers one request. It does not change s; a refused request leaves the
// state as it was. Effects are to be carried out before the answer is sent.
func Apply(s State, rules Rules, r Request) (State, Answer, []Effect) {
	if err := Admit(s, r); err != nil {
		return s, Refused(err), nil
	}
	next := s
	answer, effects := next.answer(rules, r)
	if answer.Error != nil {
		return s, answer, nil
	}
	return next, answer, effects
}

func (s *State) answer(rules Rules, r Request) (Answer, []Effect) {
	switch r.Operation {
	case CreateFile:
		return s.createFile(r), nil
	case ImportFile:
		return s.importFile(r), nil
	case ListFiles:
		return s.listFiles(r), nil
	case GetFile:
		return s.getFile(r), nil
	case FileContent:
		return s.fileContent(r), nil
	case DeleteFile:
		return s.deleteFile(r)
	case CreateBatch:
		return s.createBatch(r), nil
	case ListBatches:
		return s.listBatches(r), nil
	case GetBatch:
		return s.getBatch(r), nil
	case CancelBatch:
		return s.cancelBatch(r), nil
	case ListModels:
		return s.listModels(r), nil
	case Chat, Embeddings, Responses:
		return s.call(rules, r), nil
	}
	return Refused(notFound("Resource not found")), nil
}

// created is the status of a creation: 201 in the API with an api-version, 200
// in v1 (A805).
func (r Request) created() int {
	if r.Dated {
		return http.StatusCreated
	}
	return http.StatusOK
}
