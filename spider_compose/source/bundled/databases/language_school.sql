CREATE TABLE Teacher (
  TeacherID INTEGER PRIMARY KEY,
  LastName TEXT NOT NULL,
  FirstName TEXT,
  HomeCountry TEXT,
  HourlyRate REAL
);
CREATE TABLE Course (
  CourseID INTEGER PRIMARY KEY,
  Language TEXT NOT NULL,
  Level TEXT,
  TeacherID INTEGER REFERENCES Teacher(TeacherID),
  Fee INTEGER,
  Hours INTEGER, -- number of hours
  StartDate DATE,
  Room TEXT
);
CREATE TABLE Student (
  StudentID INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  Age INTEGER,
  MotherTongue TEXT,
  City TEXT
);
CREATE TABLE Enrolment (
  CourseID INTEGER REFERENCES Course(CourseID),
  StudentID INTEGER REFERENCES Student(StudentID),
  Grade REAL,
  AbsentHours INTEGER,
  PRIMARY KEY (CourseID, StudentID)
);
INSERT INTO Teacher VALUES
 (1, 'Moreau', 'Camille', 'France', 38.0),
 (2, 'Takeda', 'Ryo', 'Japan', 45.5),
 (3, 'Silva', 'Beatriz', 'Brazil', 36.0),
 (4, 'O''Connell', 'Maeve', 'Ireland', 33.5),
 (5, 'Haddad', 'Karim', 'Lebanon', 41.0),
 (6, 'Lopez', 'Marta', 'Spain', 35.0),
 (7, 'Benoit', 'Luc', 'France', 31.5),
 (8, 'Nowak', 'Ewa', 'Poland', 29.0);
INSERT INTO Course VALUES
 (1, 'French', 'A1', 1, 320, 40, '2023-09-11', 'Seine'),
 (2, 'French', 'B2', 1, 410, 48, '2023-09-12', 'Seine'),
 (3, 'Japanese', 'A1', 2, 480, 60, '2023-09-18', 'Kyoto'),
 (4, 'Portuguese', 'A2', 3, 350, 40, '2023-10-02', 'Tagus'),
 (5, 'Irish', 'A1', 4, 260, 30, '2023-10-05', 'Tagus'),
 (6, 'Arabic', 'A1', 5, 450, 56, '2023-09-20', 'Kyoto'),
 (7, 'Spanish', 'B1', 6, 370, 44, '2023-09-14', 'Ebro'),
 (8, 'Spanish', 'A1', 6, 300, 36, '2024-01-15', 'Ebro'),
 (9, 'French', 'A2', 7, 330, 40, '2024-01-16', NULL),
 (10, 'Japanese', 'B1', 2, 540, 64, '2024-01-22', 'Kyoto'),
 (11, 'Arabic', 'A2', 5, 465, 52, '2024-02-05', 'Kyoto');
INSERT INTO Student VALUES
 (1, 'Oliver Brandt', 24, 'German', 'Linden'),
 (2, 'Chiara Russo', 31, 'Italian', 'Marwick'),
 (3, 'Emre Yildiz', 19, 'Turkish', 'Linden'),
 (4, 'Jane Whitlock', 58, 'English', 'Oldbury'),
 (5, 'Mateo Vargas', 27, 'Spanish', 'Linden'),
 (6, 'Aoife Brennan', 35, 'English', 'Marwick'),
 (7, 'Sven Dahl', 42, 'Swedish', 'Oldbury'),
 (8, 'Li Na', 22, 'Chinese', 'Linden'),
 (9, 'Ruth Mbeki', 64, 'English', 'Marwick'),
 (10, 'Daniel Katz', 17, 'Hebrew', 'Fenwick'),
 (11, 'Ilse Maas', 29, 'Dutch', 'Fenwick'),
 (12, 'Pauline Ferrand', 38, 'French', 'Oldbury');
INSERT INTO Enrolment VALUES
 (1, 1, 8.5, 2), (1, 4, 7.0, 6), (1, 3, 6.5, 9), (1, 10, 9.0, 0),
 (2, 2, 9.5, 1), (2, 6, 7.5, 4), (3, 8, 9.0, 3), (3, 3, 5.5, 14), (3, 7, 7.0, 8),
 (4, 5, 9.0, 0), (4, 2, 8.0, 5), (5, 9, 6.0, 2), (5, 6, 8.5, 1),
 (6, 7, 5.0, 16), (6, 11, 8.0, 4), (7, 1, 7.5, 7), (7, 8, 8.0, 3), (7, 2, 9.0, 2), (7, 4, 6.5, 10),
 (8, 9, 7.0, 3), (8, 10, NULL, 12), (9, 4, NULL, 0), (10, 8, NULL, 1);
